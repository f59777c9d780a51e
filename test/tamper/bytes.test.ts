// Somebody edits the file. Whatever byte of an event they change, verify names that event; damage below the events is told as damage.

import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { openIn, tempFile } from '../support/engines.ts'
import { forge, journal, verdict } from './journal.ts'

const TARGET = 6

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
      const store = await open({ url: copy, create: false, readOnly: true })
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
    // Not UTF-8, and JSON whose value no append takes: the receipt of the event's key cannot be checked.
    ["update events set payload = cast(x'22ff22' as text) where seq = 6", 6, 'corrupt'],
    [String.raw`update events set payload = '"\ud800"' where seq = 6`, 6, 'corrupt'],
    ["update events set payload = '1e999' where seq = 6", 6, 'corrupt'],
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
    if (found !== undefined) db.exec('drop trigger events_stay; drop trigger events_remain')
    db.exec(sql)
    db.close()
    await using store = await open({ url: copy, readOnly: true })
    expect(await store.check(), sql).toEqual(found === undefined ? [] : [expect.stringContaining(found)])
  }
})

test('an erasure that does not say what it erased, though it is linked as it should be, authorises nothing', async () => {
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
    forge(copy, { type: 'payload.erased', payload }, 'update events set payload = null, salt = null where seq = 6')
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
