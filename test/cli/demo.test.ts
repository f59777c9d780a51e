// The demo holds what it claims, and each of its claims can fail.

import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chainIntact, cutSeen, receiptsStand, rowsFold, secretAbsent, stepsOnce, tamperNamed } from '../../src/cli/demo/claims.ts'
import { changeByte, cutTail } from '../../src/cli/demo/tamper.ts'
import { type Event, open } from '../../src/index.ts'
import { ink, MARKER, smallStore, withDatabase } from './support.ts'

test('every claim holds, within twenty seconds, and nothing is left behind', async () => {
  const { code, out } = await ink(['demo', '--json'])
  const report = JSON.parse(out)
  expect(report.claims.filter((c: { ok: boolean }) => !c.ok)).toEqual([])
  expect(report.claims).toHaveLength(8)
  expect([report.ok, code]).toEqual([true, 0])
  expect(report.ms).toBeLessThan(20_000)
  expect(report.folder).toBeUndefined()
})

test('--keep leaves the stores, which verify as the demo said', async () => {
  const { code, out } = await ink(['demo', '--keep', '--kills', '1'])
  expect(code).toBe(0)
  const folder = /The stores are in (\S+)/.exec(out)?.[1] as string
  try {
    expect((await ink(['verify', join(folder, 'agents.db')])).code).toBe(0)
    expect((await ink(['verify', join(folder, 'agents.db.changed')])).code).toBe(1)
    expect((await ink(['rebuild', '--check', join(folder, 'agents.db')])).code).toBe(0)
  } finally {
    rmSync(folder, { recursive: true })
  }
  expect(existsSync(folder)).toBe(false)
})

const eventsOf = async (path: string): Promise<ReadonlyMap<number, Event>> => {
  await using store = await open(path)
  const events = new Map<number, Event>()
  for await (const e of store.events()) events.set(e.seq, e)
  return events
}

const verifyFile = async (path: string, receipts: Parameters<typeof receiptsStand>[0] = []) => {
  await using store = await open(path)
  return await store.verify({ receipts })
}

test('a receipt with another hash, or for an event that is not there, fails the first claim', async () => {
  const { path, receipts } = await smallStore()
  const mine = receipts.filter((r) => r.tenant === 'main')
  const events = await eventsOf(path)
  expect(receiptsStand(mine, events)).toMatchObject({ ok: true, measured: '6 of 6' })
  const [first, ...rest] = mine as [(typeof mine)[0], ...typeof mine]
  expect(receiptsStand([{ ...first, hash: '0'.repeat(64) }, ...rest], events)).toMatchObject({ ok: false, measured: '5 of 6' })
  expect(receiptsStand([{ ...first, seq: 99 }, ...rest], events).ok).toBe(false)
  expect(receiptsStand([], events).ok).toBe(false)
})

test('a step that is there twice, or was left out, fails', () => {
  const step = (caller: number, n: number) => ({ data: { caller, step: n } }) as unknown as Event
  expect(stepsOnce([step(0, 1), step(1, 1), step(0, 2)], 0).ok).toBe(true)
  expect(stepsOnce([step(0, 1), step(0, 1)], 0).ok).toBe(false)
  expect(stepsOnce([step(0, 1), step(0, 3)], 0).ok).toBe(false)
  expect(stepsOnce([], 0).ok).toBe(false)
})

test('a copy that nobody touched fails the claim that tampering is named; so does the wrong event', async () => {
  const { path, marked } = await smallStore()
  const copy = `${path}.copy`
  copyFileSync(path, copy)
  expect(tamperNamed(await verifyFile(copy), marked)).toMatchObject({ ok: false, measured: 'it saw nothing' })
  changeByte(copy, MARKER, 4, 'L')
  const report = await verifyFile(copy)
  expect(tamperNamed(report, marked).ok).toBe(true)
  expect(tamperNamed(report, marked + 1).ok).toBe(false)
  expect(chainIntact('the chain is intact', report).ok).toBe(false)
  expect(chainIntact('the chain is intact', await verifyFile(path)).ok).toBe(true)
  expect(() => changeByte(copy, 'words that are nowhere', 0, 'x')).toThrow('0 times')
})

test('a tail that was not cut fails the claim that the cut is seen', async () => {
  const { path, receipts } = await smallStore()
  const mine = receipts.filter((r) => r.tenant === 'main')
  const held = await verifyFile(path, mine)
  expect(cutSeen(held, held, 7).ok).toBe(false)
  cutTail(path, 'main', 6)
  expect(cutSeen(await verifyFile(path), await verifyFile(path, mine), 8).ok).toBe(true)
  expect(cutSeen(await verifyFile(path), await verifyFile(path), 8).ok).toBe(false)
})

test('a row changed by hand fails the claim that rows are the fold', async () => {
  const { path } = await smallStore()
  const check = async () => {
    await using store = await open(path)
    return rowsFold(await store.rebuild({ check: true }))
  }
  expect((await check()).ok).toBe(true)
  withDatabase(path, (db) => db.exec("update sessions set body = json_set(body, '$.title', 'x') where tenant = 'main'"))
  expect((await check()).ok).toBe(false)
})

test('a secret that was written fails, and so does a search that finds nothing at all', async () => {
  const { path } = await smallStore()
  const files = [readFileSync(path)]
  expect(secretAbsent(files, ['sk-never-written'], MARKER).ok).toBe(true)
  expect(secretAbsent(files, [MARKER], 'plan.changed').ok).toBe(false)
  expect(secretAbsent(files, ['sk-never-written'], 'words that are nowhere').ok).toBe(false)
})
