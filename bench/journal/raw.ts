// The floor: what a careful programmer would write by hand on node:sqlite for the same rows. Same columns, same indexes, same ids,
// salts and hashes, group commit, one flush a transaction; no checks, no guards, no redaction, no recovery.

import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { sha256 } from '../../src/backends/sqlite/sha256.ts'
import { hex } from '../../src/model/bytes.ts'
import { eventDigest, GENESIS, linkHash, payloadDigest } from '../../src/model/chain.ts'
import { DURABLE, type EventHeader } from '../../src/model/event.ts'
import { type EventId, idBytes, idMaker, type SessionId } from '../../src/model/ids.ts'

const TENANT = 'main'
const BATCH = 64
const SALT = 16

const insert = `
  insert into events (tenant, seq, id, at, type, schema, class, actor, session, run, subject, cause, key, payload, salt, digest, hash)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

interface Waiting {
  readonly header: EventHeader
  readonly payload: string
  readonly salt: Uint8Array
  readonly digest: Uint8Array
  readonly event: Uint8Array
  readonly settle: (receipt: RawReceipt) => void
  readonly fail: (error: unknown) => void
}

export interface RawReceipt {
  readonly id: EventId
  readonly seq: number
  readonly hash: string
}

export class RawJournal {
  readonly #db: DatabaseSync
  readonly #insert: ReturnType<DatabaseSync['prepare']>
  readonly #newId = idMaker(Date.now, (count) => randomBytes(count))
  readonly #session: SessionId
  readonly #sessionBytes: Uint8Array
  readonly settings: string
  #waiting: Waiting[] = []
  #underway = false
  #seq = 0
  #hash = GENESIS
  #salts = new Uint8Array(0)
  #saltsUsed = 0

  constructor(path: string) {
    this.#db = new DatabaseSync(path)
    this.#db.exec('pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -65536')
    this.#db.exec(eventsSchema())
    this.#insert = this.#db.prepare(insert)
    this.#session = this.#newId<'session'>()
    this.#sessionBytes = idBytes(this.#session)
    const pragma = (name: string) => Object.values(this.#db.prepare(`pragma ${name}`).get() ?? {})[0]
    this.settings = ['journal_mode', 'synchronous', 'wal_autocheckpoint'].map((name) => `${name} = ${pragma(name)}`).join(', ')
  }

  append(type: string, data: unknown): Promise<RawReceipt> {
    const payload = JSON.stringify(data)
    const salt = this.#salt()
    const digest = payloadDigest(sha256, salt, payload)
    const header = {
      id: this.#newId<'event'>(),
      at: Date.now(),
      type,
      schema: 1,
      class: DURABLE,
      actor: '',
      session: this.#session,
    } as const
    const event = eventDigest(sha256, TENANT, header, digest)
    return new Promise((settle, fail) => {
      this.#waiting.push({ header, payload, salt, digest, event, settle, fail })
      if (this.#underway) return
      this.#underway = true
      setImmediate(() => this.#flush())
    })
  }

  close(): void {
    this.#db.close()
  }

  #flush(): void {
    const batch = this.#waiting.splice(0, BATCH)
    const receipts: RawReceipt[] = []
    try {
      this.#db.exec('begin immediate')
      for (const { header: e, payload, salt, digest, event } of batch) {
        const seq = this.#seq + 1
        const link = linkHash(sha256, this.#hash, seq, event)
        const { id, at, type, schema, actor } = e
        const session = this.#sessionBytes
        this.#insert.run(
          TENANT,
          seq,
          idBytes(id),
          at,
          type,
          schema,
          e.class,
          actor,
          session,
          null,
          null,
          null,
          null,
          payload,
          salt,
          digest,
          link,
        )
        this.#seq = seq
        this.#hash = link
        receipts.push({ id, seq, hash: hex(link) })
      }
      this.#db.exec('commit')
      for (let i = 0; i < batch.length; i++) batch[i]?.settle(receipts[i] as RawReceipt)
    } catch (error) {
      for (const w of batch) w.fail(error)
    }
    this.#underway = this.#waiting.length > 0
    if (this.#underway) setImmediate(() => this.#flush())
  }

  #salt(): Uint8Array {
    if (this.#saltsUsed + SALT > this.#salts.length) {
      this.#salts = randomBytes(SALT * 256)
      this.#saltsUsed = 0
    }
    this.#saltsUsed += SALT
    return this.#salts.subarray(this.#saltsUsed - SALT, this.#saltsUsed)
  }
}

/** The table and its indexes as the store's own migration makes them, so that the floor never drifts; its triggers stay out. */
function eventsSchema(): string {
  const migration = readFileSync(new URL('../../src/backends/sqlite/migrations/0001_journal.sql', import.meta.url), 'utf8')
  const made = migration.match(/create (?:table events \([^;]+;|(?:unique )?index events_[^;]+;)/g) ?? []
  if (made.length < 2) throw new Error('the migration no longer makes the events table the way bench/journal/raw.ts reads it')
  return made.join('\n')
}
