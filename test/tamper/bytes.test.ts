// Somebody edits the file. Whatever byte of an event they change, verify names that event; damage below the events is told as damage.

import { spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { open, type Receipt } from '../../src/index.ts'
import { openIn, tempFile } from '../support/engines.ts'

const TARGET = 6
const VERIFIER = new URL('../../verifier/inkfast_verify.py', import.meta.url).pathname

async function journal(path: string): Promise<readonly Receipt[]> {
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

async function verdict(path: string, receipts?: readonly Receipt[]): Promise<{ at?: number; code?: string; state?: string }> {
  try {
    const store = await open({ url: path, create: false })
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

test('any changed byte of any column of an event is named with its seq', async () => {
  const path = tempFile()
  await journal(path)
  const db = new DatabaseSync(path)
  const row = db.prepare('select * from events where seq = ?').get(TARGET) as Record<string, unknown>
  db.close()
  let tried = 0
  for (const [column, value] of Object.entries(row)) {
    if (value === null || column === 'tenant' || column === 'seq') continue
    const bytes = value instanceof Uint8Array ? value : typeof value === 'string' ? Buffer.from(value) : undefined
    const changes = bytes
      ? Array.from({ length: bytes.length }, (_, i) => {
          const changed = new Uint8Array(bytes)
          changed[i] = (changed[i] as number) ^ 1
          return changed
        })
      : [(value as number) + 1, (value as number) - 1]
    const copy = `${path}.copy`
    copyFileSync(path, copy)
    const edit = new DatabaseSync(copy)
    edit.exec('drop trigger events_stay')
    const text = typeof value === 'string'
    const update = edit.prepare(`update events set ${column} = ${text ? 'cast(? as text)' : '?'} where seq = ?`)
    for (const change of changes) {
      update.run(change, TARGET)
      const store = await open({ url: copy, create: false })
      const report = await store.verify()
      expect(report, `${column} changed`).toMatchObject({ intact: false, brokenAt: TARGET, events: 8, states: { corrupt: 1 } })
      await store.close()
      tried++
    }
    edit.close()
  }
  expect(tried).toBeGreaterThan(200)
})

test('a column emptied, cut, or with a byte moved to its neighbour is named too', async () => {
  const path = tempFile()
  await journal(path)
  for (const [sql, at, state] of [
    ['update events set salt = null where seq = 6', 6, 'corrupt'],
    ['update events set payload = null where seq = 6', 6, 'corrupt'],
    ['update events set payload = null, salt = null where seq = 6', 6, 'erased-unauthorised'],
    ['update events set id = substr(id, 1, 15), digest = cast(substr(id, 16) || digest as blob) where seq = 6', 6, 'corrupt'],
    ['update events set session = substr(session, 1, 15), run = cast(substr(session, 16) || run as blob) where seq = 6', 6, 'corrupt'],
    ['update events set run = null where seq = 6', 6, 'corrupt'],
    ['update events set subject = session where seq = 6', 6, 'corrupt'],
    ["update events set type = 'a.c' where seq = 6", 6, 'corrupt'],
    ['update events set class = 256 where seq = 6', 6, 'corrupt'],
    ['update events set schema = 4294967297 where seq = 6', 6, 'corrupt'],
    ['update events set subject = zeroblob(16) where seq = 6', 6, 'corrupt'],
    ['delete from heads', 1, 'corrupt'],
    ["update events set tenant = 'other' where seq = 6", 6, 'missing'],
    ['delete from events where seq = 6', 6, 'missing'],
    ['delete from events where seq = 8', 8, 'missing'],
    ['update events set seq = 72 where seq = 6', 6, 'missing'],
    ["update heads set hash = zeroblob(32) where tenant = 'main'", 8, 'corrupt'],
    ["update heads set seq = 6, hash = (select hash from events where seq = 6) where tenant = 'main'", 7, 'corrupt'],
    ["update heads set seq = 11 where tenant = 'main'", 9, 'missing'],
    [
      'create table x as select payload, salt, digest from events where seq = 6; update events set (payload, salt, digest) = (select * from x) where seq = 7',
      7,
      'corrupt',
    ],
  ] as const) {
    const copy = `${path}.copy`
    copyFileSync(path, copy)
    const db = new DatabaseSync(copy)
    db.exec('drop trigger events_stay; drop trigger events_remain')
    db.exec(sql)
    db.close()
    expect(await verdict(copy), sql).toEqual({ at, state })
  }
})

test('the check of a file finds events that do not lie at 1 to the head', async () => {
  const path = tempFile()
  await journal(path)
  for (const [sql, found] of [
    ['select 1', undefined],
    ['update events set seq = 72 where seq = 8', 'head at seq 8, but holds 8 events up to seq 72'],
    ['delete from events where seq = 6', 'head at seq 8, but holds 7 events up to seq 8'],
    ["update heads set seq = 6 where tenant = 'main'", 'head at seq 6, but holds 8 events up to seq 8'],
  ] as const) {
    const copy = `${path}.copy`
    copyFileSync(path, copy)
    const db = new DatabaseSync(copy)
    db.exec('drop trigger events_stay; drop trigger events_remain')
    db.exec(sql)
    db.close()
    await using store = await open({ url: copy, readOnly: true })
    expect(await store.check(), sql).toEqual(found === undefined ? [] : [expect.stringContaining(found)])
  }
})

test('an erasure that does not say what it erased, though it is linked as it should be, authorises nothing', async () => {
  const { hash } = await import('node:crypto')
  const { eventDigest, linkHash, payloadDigest } = await import('../../src/model/chain.ts')
  const { idBytes } = await import('../../src/model/ids.ts')
  const sha256 = (bytes: Uint8Array) => hash('sha256', bytes, 'buffer')
  const path = tempFile()
  await journal(path)
  for (const payload of [
    '{"seqs":[[1,8]],"reason":"x"}',
    '{"seqs":[[6,5]]}',
    '{"seqs":[[6]]}',
    '{"seqs":"6"}',
    'null',
    '[]',
    'no json',
    '{"seqs":[[0,9e99]]}',
  ]) {
    const copy = `${path}.copy`
    copyFileSync(path, copy)
    const db = new DatabaseSync(copy)
    db.exec('drop trigger events_stay; update events set payload = null, salt = null where seq = 6')
    const last = db.prepare('select hash from events where seq = 8').get()?.hash as Uint8Array
    const salt = new Uint8Array(16)
    const header = { id: '01M7FCTG5P3PK256GN45S9KB2F' as never, at: 1, type: 'payload.erased', schema: 1, class: 0 as const, actor: '' }
    const digest = payloadDigest(sha256, salt, payload)
    const link = linkHash(sha256, last, 9, eventDigest(sha256, 'main', header, digest))
    db.prepare(
      'insert into events (tenant, seq, id, at, type, schema, class, actor, payload, salt, digest, hash) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ).run('main', 9, idBytes(header.id), 1, header.type, 1, 0, '', payload, salt, digest, link)
    db.prepare('update heads set seq = 9, hash = ?').run(link)
    db.close()
    expect(await verdict(copy), payload).toEqual(payload.startsWith('{"seqs":[[1,8]') ? {} : { at: 6, state: 'erased-unauthorised' })
  }
})

test('a cut tail and a rewrite from the start are seen when receipts are given, and only then', async () => {
  const path = tempFile()
  const receipts = await journal(path)
  const db = new DatabaseSync(path)
  db.exec('drop trigger events_remain')
  db.exec(
    "delete from events where seq > 6; update heads set seq = 6, hash = (select hash from events where seq = 6) where tenant = 'main'",
  )
  db.close()
  expect(await verdict(path)).toEqual({})
  expect(await verdict(path, receipts)).toEqual({ at: 7, state: 'missing' })

  const other = tempFile()
  await journal(other)
  expect(await verdict(other)).toEqual({})
  expect(await verdict(other, receipts)).toEqual({ at: 4, state: 'corrupt' })
})

test('any byte flipped in the record of an event, in the file itself, does not go unnoticed', async () => {
  const path = tempFile()
  await journal(path)
  const original = readFileSync(path)
  const start = original.indexOf('marker-three')
  const target = original.indexOf('marker-target')
  expect(start).toBeGreaterThan(0)
  // SQLite fills a page from its end: the record of seq 6 begins where that of seq 7 ends, and ends with its hash, 80 bytes on.
  const [from, to] = [Math.min(start, target), Math.max(start, target)]
  const unseen: number[] = []
  const elsewhere: string[] = []
  for (let at = from; at < to + 120; at++) {
    const bytes = Buffer.from(original)
    bytes[at] = (bytes[at] as number) ^ 0x01
    const copy = `${path}.copy`
    writeFileSync(copy, bytes)
    const found = await verdict(copy)
    if (found.at === undefined && found.code === undefined && changesRecords(path, copy)) unseen.push(at - from)
    else if (found.code !== undefined && found.code !== 'FILE_CORRUPT') elsewhere.push(`${at - from}: ${found.code}`)
  }
  expect(elsewhere).toEqual([])
  expect(unseen).toEqual([])
})

// A record's length may be changed without changing anything in it; then nothing was changed.
function changesRecords(path: string, copy: string): boolean {
  const [before, after] = [path, copy].map((file) => {
    const db = new DatabaseSync(file)
    const rows = JSON.stringify(db.prepare('select rowid, * from events not indexed').all())
    db.close()
    return rows
  })
  return before !== after
}

test('a damaged page is FILE_CORRUPT with the last good seq, and the events before it are still read', async () => {
  const path = tempFile()
  const store = await open(path)
  const session = await store.session('s')
  for (let i = 0; i < 400; i++) void session.append('a.b', { i, text: `padding-${i}-`.repeat(20) })
  const last = await session.append('a.b', 'end')
  await store.close()
  const bytes = readFileSync(path)
  const page = Math.floor(bytes.indexOf('padding-200-') / 4096)
  bytes.fill(0xff, page * 4096, (page + 1) * 4096)
  writeFileSync(path, bytes)
  const damaged = await openIn(path, { create: false })
  await expect(damaged.verify()).rejects.toMatchObject({ code: 'FILE_CORRUPT', details: { lastGoodSeq: expect.any(Number) } })
  const good = await damaged.verify().catch((error) => error.details.lastGoodSeq as number)
  expect(good).toBeGreaterThan(150)
  expect(good).toBeLessThan(last.seq)
  expect((await damaged.check()).length).toBeGreaterThan(0)
})

test('the independent verifier agrees, on the whole journal and on a changed one', async () => {
  const path = tempFile()
  await journal(path)
  const check = () => spawnSync('python3', [VERIFIER, path, '--json'], { encoding: 'utf8' })
  const fine = check()
  expect(JSON.parse(fine.stdout)).toMatchObject({ intact: true, events: 8 })
  expect(fine.status).toBe(0)
  const db = new DatabaseSync(path)
  db.exec("drop trigger events_stay; update events set payload = replace(payload, 'target', 'tarGet') where seq = 6")
  db.close()
  const broken = check()
  expect(broken.status).toBe(1)
  expect(JSON.parse(broken.stdout).broken[0]).toMatchObject({ journal: 'main', seq: 6, state: 'corrupt' })
  expect(await verdict(path)).toEqual({ at: 6, state: 'corrupt' })
})

test('the independent verifier finds a tail that was cut while its head was left, and a head that was moved', async () => {
  const path = tempFile()
  await journal(path)
  const check = (file: string) => JSON.parse(spawnSync('python3', [VERIFIER, file, '--json'], { encoding: 'utf8' }).stdout)
  expect(check(path)).toMatchObject({ intact: true, basis: ['chain', 'heads'] })
  for (const [sql, first] of [
    ['delete from events where seq > 6', { seq: 7, state: 'missing' }],
    ['update heads set hash = zeroblob(32)', { seq: 8, state: 'corrupt' }],
    ['update heads set seq = 6, hash = (select hash from events where seq = 6)', { seq: 7, state: 'corrupt' }],
    ['delete from heads', { seq: null, state: 'corrupt' }],
  ] as const) {
    const copy = `${path}.copy`
    copyFileSync(path, copy)
    const db = new DatabaseSync(copy)
    db.exec(`drop trigger events_remain; ${sql}`)
    db.close()
    expect(check(copy), sql).toMatchObject({ intact: false, broken: [first] })
  }
  // A tail that is cut together with its head needs a receipt.
  const copy = `${path}.copy`
  copyFileSync(path, copy)
  const db = new DatabaseSync(copy)
  db.exec('drop trigger events_remain; delete from events where seq > 6')
  db.exec('update heads set seq = 6, hash = (select hash from events where seq = 6)')
  db.close()
  expect(check(copy)).toMatchObject({ intact: true })
})

test('the vectors verify with the independent verifier', () => {
  const vectors = new URL('../vectors/journal-v1.json', import.meta.url).pathname
  const { status, stdout } = spawnSync('python3', [VERIFIER, vectors], { encoding: 'utf8' })
  expect(stdout).toMatch(/./)
  expect(status).toBe(0)
})
