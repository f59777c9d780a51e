// The independent verifier in Python and our own say the same about a journal, whole or changed.

import { spawnSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { tempFile } from '../support/engines.ts'
import { forge, journal, verdict } from './journal.ts'

const VERIFIER = new URL('../../verifier/inkfast_verify.py', import.meta.url).pathname

test('a forged erasure and an event that is dated back pass the chain, and verify lists both, in either verifier', async () => {
  const path = tempFile()
  await journal(path)
  const at = Date.now() - 3 * 86_400_000
  const erasure = { type: 'payload.erased', actor: 'mallory', at, payload: '{"seqs":[[6,6]],"reason":"no order"}' }
  forge(path, erasure, 'update events set payload = null, salt = null where seq = 6')
  const store = await open({ url: path, create: false, readOnly: true })
  const report = await store.verify()
  await store.close()
  const listed = { seq: 9, at, actor: 'mallory', reason: 'no order', erased: 1 }
  expect(report).toMatchObject({ intact: true, erasures: [listed], erasureCount: 1, backwardTimes: [{ seq: 9, at }] })
  const other = JSON.parse(spawnSync('python3', [VERIFIER, path, '--json'], { encoding: 'utf8' }).stdout)
  expect(other).toMatchObject({ intact: true, erasures: [{ journal: 'main', ...listed }], erasuresTotal: 1 })
  expect(other.notes).toEqual([expect.stringMatching(/main seq 9: its time \d+ lies more than a day before/)])
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
})

test('the vectors verify with the independent verifier', () => {
  const vectors = new URL('../vectors/journal-v1.json', import.meta.url).pathname
  const { status, stdout } = spawnSync('python3', [VERIFIER, vectors], { encoding: 'utf8' })
  expect(stdout).toMatch(/./)
  expect(status).toBe(0)
})
