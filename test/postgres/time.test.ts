// Time on PostgreSQL is the database's: whatever a node's own clock says, it neither keeps a lease alive nor ends one.

import { expect, test } from 'vitest'
import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { MAIN, maker, put } from '../../src/conformance/material.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { later, moveTime, openIn, tempDatabase } from '../support/engines.ts'

const A_DAY = 86_400_000
const TTL = 30_000

async function node(url: string): Promise<Backend> {
  const backend = await postgresBackend({ url, connections: 2 })
  later(() => backend.close())
  return backend
}

const isHeld = async (backend: Backend, id: string): Promise<boolean> => {
  const { now, leases } = await backend.leases.read(MAIN, [id])
  return (leases[0]?.until ?? 0) > now
}

test('a lease runs out for every node at once, when the database says so', async () => {
  const url = await tempDatabase()
  const [one, two] = [await node(url), await node(url)]
  const make = maker()
  const [taken] = await one.commit([make.commit(MAIN, { changes: [put('leases', 'l', { owner: 'one' }, { grants: true })] })])
  const fence = taken?.ok ? (taken.receipts[0]?.seq ?? 0) : 0
  await one.leases.renew(MAIN, [{ id: 'l', fence }], TTL)
  expect([await isHeld(one, 'l'), await isHeld(two, 'l')]).toEqual([true, true])

  await moveTime(url, TTL - 5000)
  expect([await isHeld(one, 'l'), await isHeld(two, 'l')]).toEqual([true, true])
  await moveTime(url, 10_000)
  expect([await isHeld(one, 'l'), await isHeld(two, 'l')]).toEqual([false, false])

  await one.leases.renew(MAIN, [{ id: 'l', fence }], TTL)
  expect([await isHeld(one, 'l'), await isHeld(two, 'l')]).toEqual([true, true])
})

test('a node whose clock is a day off says what the others say', async () => {
  const url = await tempDatabase()
  const make = maker()
  const right = await node(url)
  // The control: judged by its own clock the same lease would long have run out.
  const wrong = Date.now() + A_DAY
  const real = Date.now
  Date.now = () => real() + A_DAY
  try {
    const other = await node(url)
    const [taken] = await other.commit([make.commit(MAIN, { changes: [put('leases', 'l', { owner: 'two' }, { grants: true })] })])
    const fence = taken?.ok ? (taken.receipts[0]?.seq ?? 0) : 0
    const { leases, now } = await other.leases.renew(MAIN, [{ id: 'l', fence }], TTL)
    expect(Math.abs(now - real())).toBeLessThan(60_000)
    expect(Math.abs((taken?.now ?? 0) - real())).toBeLessThan(60_000)
    expect([await isHeld(other, 'l'), await isHeld(right, 'l')]).toEqual([true, true])
    expect((leases[0]?.until ?? 0) > wrong).toBe(false)
  } finally {
    Date.now = real
  }
})

test('the time given to deciders is the database’s, moved or not', async () => {
  const url = await tempDatabase()
  const store = await openIn(url, { clock: { now: () => 1_000_000 } })
  const session = await store.session('s')
  await moveTime(url, A_DAY)
  const { seq } = await session.append('a.b', 1, { key: 'k' })
  // The event says when its appender thought it was; the receipt is kept by store time, so a month by the database is a month.
  for await (const event of store.events({ after: seq - 1 })) expect(event.at).toBe(1_000_000)
  await moveTime(url, 31 * A_DAY)
  await session.append('a.b', 2)
  expect(await store.maintain()).toMatchObject({ receiptsForgotten: 1, stateExpired: 0 })
})
