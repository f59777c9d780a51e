// Between a store and its server lies a network that loses, cuts, holds back and is slow. Whatever it does to a commit, it is saved once.

import { describe, expect, test } from 'vitest'
import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { type Backend, open, type Store } from '../../src/index.ts'
import { codeOf, expectSound, later, openIn, tempDatabase } from '../support/engines.ts'
import { rounds } from '../support/rounds.ts'
import { type Fault, startProxy } from './proxy.ts'

// Longer than an answer of a busy server takes, because a second sending must not time out as well.
const TIMEOUT_MS = 1500
const COMMITS = rounds(1, 3)

const asItIs = (backend: Backend): Backend => backend

async function openThrough(url: string, wrap = asItIs, timeoutMs = TIMEOUT_MS): Promise<Store> {
  const store = await open({ backend: wrap(await postgresBackend({ url, timeoutMs })) })
  later(() => store.close())
  return store
}

async function countOf(store: Store, mark: string): Promise<number> {
  let count = 0
  for await (const { data } of store.events({ types: ['task.done'] })) if ((data as { mark: string }).mark === mark) count++
  return count
}

const faults: readonly Fault[] = ['lose the reply', 'cut the request', 'hold the reply', 'hold the request']
const ways = faults.flatMap((fault) => [
  { fault, keyed: false, how: 'without a key' },
  { fault, keyed: true, how: 'with a key' },
])

describe('a network', () => {
  test.each(ways)('a network may $fault, and a commit $how is there once', async ({ fault, keyed }) => {
    const direct = await tempDatabase()
    const proxy = await startProxy(direct)
    const store = await openThrough(proxy.url)
    const watcher = await openIn(direct)
    const session = await store.session('s')
    for (let n = 0; n < COMMITS; n++) {
      const mark = `mark-${n}-of-this-one`
      const struck = proxy.strike(mark, fault)
      const append = () => session.append('task.done', { mark }, keyed ? { key: mark } : {})
      const receipt = await append()
      await struck
      // What was held back comes now, when its commit has long been sent again and saved.
      await proxy.release()
      expect(await countOf(watcher, mark)).toBe(1)
      expect((await watcher.page({ after: receipt.seq - 1, limit: 1 })).items).toMatchObject([{ id: receipt.id, hash: receipt.hash }])
      if (keyed) expect(await append()).toEqual(receipt)
    }
    expect(store.stats().resent).toBeGreaterThanOrEqual(COMMITS)
    await expectSound(watcher)
  })

  test('a network may be slow, and everything only takes longer', async () => {
    const proxy = await startProxy(await tempDatabase())
    const store = await openThrough(proxy.url, asItIs, 20 * TIMEOUT_MS)
    proxy.slow(50)
    const session = await store.session('s')
    await Promise.all(Array.from({ length: 20 }, (_, n) => session.append('task.done', { mark: `${n}` })))
    expect(store.stats().resent).toBe(0)
    expect((await store.head()).seq).toBe(21)
  })

  test('a network may stay away: the error says that the outcome is open, and the key finds it afterwards', async () => {
    const proxy = await startProxy(await tempDatabase())
    const store = await openThrough(proxy.url)
    const session = await store.session('s')
    void proxy.strike('once-and-gone', 'lose the reply').then(() => proxy.shut(true))
    const append = () => session.append('task.done', { mark: 'once-and-gone' }, { key: 'k' })
    expect(await codeOf(append())).toBe('OUTCOME_UNKNOWN')
    expect(['DATABASE_UNREACHABLE', 'OUTCOME_UNKNOWN']).toContain(await codeOf(append()))
    proxy.shut(false)
    const { seq } = await append()
    expect(await countOf(store, 'once-and-gone')).toBeLessThanOrEqual(1)
    expect(seq).toBe((await store.head()).seq)
  })

  test('a network may break while something is read, and it is read again', async () => {
    const proxy = await startProxy(await tempDatabase())
    const store = await openThrough(proxy.url)
    const { id } = await store.session('s')
    for (const fault of ['lose the reply', 'cut the request'] as const) {
      const struck = proxy.strike(id, fault)
      expect(await store.sessions.get(id)).toBeDefined()
      await struck
    }
    const struck = proxy.strike(id, 'hold the reply')
    expect(await codeOf(store.sessions.get(id))).toBe('DATABASE_UNREACHABLE')
    await struck
    expect(await store.sessions.get(id)).toBeDefined()
  })
})

describe('without the mark of the head that a commit was sent at', () => {
  const forgetful = (backend: Backend): Backend => ({
    ...backend,
    commit: (batch) => backend.commit(batch.map(({ since: _, ...commit }) => commit)),
  })

  test.each(['lose the reply', 'hold the request'] as const)('a network may %s, and the commit is there twice', async (fault) => {
    const url = await tempDatabase()
    const proxy = await startProxy(url)
    // Made by another node: one that knows where the head is would be told by the head itself.
    await (await openIn(url)).session('s')
    const store = await openThrough(proxy.url, forgetful)
    const session = await store.session('s')
    const struck = proxy.strike('written-twice', fault)
    await session.append('task.done', { mark: 'written-twice' })
    await struck
    await proxy.release()
    expect(await countOf(store, 'written-twice')).toBe(2)
  })
})
