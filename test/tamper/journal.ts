// A small journal to tamper with, what verify says about it, and a forger who computes hashes as the store does.

import { hash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { open, type Receipt } from '../../src/index.ts'
import { eventDigest, linkHash, payloadDigest } from '../../src/model/chain.ts'
import { idBytes } from '../../src/model/ids.ts'

export async function journal(path: string): Promise<readonly Receipt[]> {
  const store = await open({ url: path, redact: false })
  const session = await store.as('user_1').session('s')
  // A run that waits for a node: its id stands in the events, and nothing is written behind them.
  const { id: run } = await store.start('r', { session: session.id })
  const first = await session.append('a.b', { text: 'marker-before' })
  const receipts = [first]
  for (const text of ['marker-one', 'marker-target-ä�漢', 'marker-three', 'marker-four']) {
    receipts.push(await session.append('a.b', { text }, { key: text, cause: first.id, run }))
  }
  await store.close()
  return receipts
}

export async function verdict(path: string, receipts?: readonly Receipt[]): Promise<{ at?: number; code?: string; state?: string }> {
  try {
    const store = await open({ url: path, create: false, readOnly: true })
    try {
      const report = await store.verify(receipts ? { receipts } : {})
      return report.intact ? {} : { at: report.brokenAt as number, state: report.problems[0]?.state as string }
    } finally {
      await store.close()
    }
  } catch (error) {
    return { code: (error as { code?: string }).code ?? String(error) }
  }
}

export interface Forged {
  readonly type: string
  readonly payload: string
  readonly actor?: string
  readonly at?: number
}

/** Appends an event behind seq 8, linked and headed as the store would, after running `sql` without the triggers. */
export function forge(path: string, { type, payload, actor = '', at = 1 }: Forged, sql: string): void {
  const sha256 = (bytes: Uint8Array) => hash('sha256', bytes, 'buffer')
  const db = new DatabaseSync(path)
  const guards = db.prepare("select sql from sqlite_schema where type = 'trigger' and name = 'events_stay'").get()?.sql as string
  db.exec(`drop trigger events_stay; ${sql}; ${guards}`)
  const last = db.prepare('select hash from events where seq = 8').get()?.hash as Uint8Array
  const salt = new Uint8Array(16)
  const header = { id: '01M7FCTG5P3PK256GN45S9KB2F' as never, at, type, schema: 1, class: 0 as const, actor }
  const digest = payloadDigest(sha256, salt, payload)
  const link = linkHash(sha256, last, 9, eventDigest(sha256, 'main', header, digest))
  db.prepare(
    'insert into events (tenant, seq, id, at, type, schema, class, actor, payload, salt, digest, hash) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  ).run('main', 9, idBytes(header.id), at, type, 1, 0, actor, payload, salt, digest, link)
  db.prepare('update heads set seq = 9, hash = ?').run(link)
  db.close()
}
