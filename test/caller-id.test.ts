// Appends whose id and time the caller chose.

import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { limits } from '../src/index.ts'
import { type EventId, idMaker } from '../src/model/ids.ts'
import { codeOf, engines, expectSound } from './support/engines.ts'

const idAt = (time: number): EventId => idMaker(() => time, randomBytes)<'event'>()
const newId = (): EventId => idAt(Date.now())

describe.each(engines)('an append with an id on $name', (engine) => {
  test('an event has the id and the time that its caller gave', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const id = idAt(1_700_000_000_000)
    const receipt = await session.append('a.b', { n: 1 }, { id, at: new Date(1_600_000_000_000) })
    expect(receipt.id).toBe(id)
    expect(await store.event(id)).toMatchObject({ seq: receipt.seq, at: 1_600_000_000_000, data: { n: 1 } })
    const { id: other } = await session.append('a.b', 2, { at: 5 })
    expect((await store.event(other))?.at).toBe(5)
    await expectSound(store)
  })

  test('the same id with the same event is a retry, also at the same time, in another order of members and under a guard', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const { seq: after } = await store.head()
    const id = newId()
    const sent = { password: 'hunter22!', n: 1 }
    const first = await Promise.all(Array.from({ length: 5 }, () => session.append('a.b', sent, { id, after })))
    expect(new Set(first.map(({ seq, hash }) => `${seq} ${hash}`)).size).toBe(1)
    expect(await session.append('a.b', { n: 1, password: 'hunter22!' }, { id, after })).toEqual(first[0])
    await session.archive()
    expect(await session.append('a.b', sent, { id })).toEqual(first[0])
    expect(await codeOf(session.append('a.b', sent, { id: newId() }))).toBe('SESSION_ARCHIVED')
    expect((await store.head()).seq).toBe(after + 2)
    await expectSound(store)
  })

  test('the same id with another event is a conflict that names the first event', async () => {
    const store = await engine.open()
    const [session, elsewhere] = [await store.session('s'), await store.session('elsewhere')]
    const [id, cause] = [newId(), newId()]
    const { seq } = await session.append('a.b', 1, { id, at: 7 })
    const head = await store.head()
    const others = [
      () => session.append('a.b', 2, { id, at: 7 }),
      () => session.append('a.c', 1, { id, at: 7 }),
      () => session.append('a.b', 1, { id, at: 8 }),
      () => session.append('a.b', 1, { id, at: 7, cause }),
      () => session.append('a.b', 1, { id, at: 7, transient: true }),
      () => elsewhere.append('a.b', 1, { id, at: 7 }),
    ]
    for (const other of others)
      await expect(other()).rejects.toMatchObject({ code: 'ID_REUSED', kind: 'conflict', details: { id, seq, erased: false } })
    const raced = newId()
    const both = await Promise.allSettled([1, 2].map((n) => session.append('a.b', n, { id: raced })))
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const timed = newId()
    const times = await Promise.allSettled([1, 2].map((at) => session.append('a.b', 1, { id: timed, at })))
    expect(times.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect((await store.head()).seq).toBe(head.seq + 2)
    await store.erase({ seq, reason: 'a test' })
    await expect(session.append('a.b', 1, { id })).rejects.toMatchObject({ code: 'ID_REUSED', details: { seq, erased: true } })
    await expectSound(store)
  })

  test('an id is known after its receipt was swept', async () => {
    const { store, now, pass } = await engine.openInTime()
    const session = await store.session('s')
    const id = idAt(await now())
    const first = await session.append('a.b', 1, { id })
    await pass(limits.receiptsKeptMs + 60_000)
    await store.maintain()
    expect(await session.append('a.b', 1, { id })).toEqual(first)
    expect(await codeOf(session.append('a.b', 2, { id }))).toBe('ID_REUSED')
  })

  test('ids and times far ahead, and those that are none, are refused', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const head = await store.head()
    const ahead = store.now() + limits.clockAheadMs
    const tries: readonly [object, string][] = [
      [{ at: ahead + 60_000 }, 'OPTION_INVALID'],
      [{ id: idAt(ahead + 60_000) }, 'OPTION_INVALID'],
      [{ at: -1 }, 'OPTION_INVALID'],
      [{ at: 1.5 }, 'OPTION_INVALID'],
      [{ at: new Date('never') }, 'OPTION_INVALID'],
      [{ at: '2026-01-01' }, 'OPTION_INVALID'],
      [{ id: 'x' }, 'ID_INVALID'],
      [{ id: newId(), key: 'k' }, 'OPTION_INVALID'],
    ]
    for (const [options, code] of tries) expect([options, await codeOf(session.append('a.b', 1, options))]).toEqual([options, code])
    expect(await store.head()).toEqual(head)
    await session.append('a.b', 1, { id: idAt(ahead - 60_000), at: ahead - 60_000 })
  })
})
