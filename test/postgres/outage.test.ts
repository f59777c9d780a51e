// A database that is away for a while: a wait goes on until its time is over, and says why only then.

import { describe, expect, test } from 'vitest'
import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { type Backend, open, type Store } from '../../src/index.ts'
import { codeOf, expectSound, later, openIn, tempDatabase } from '../support/engines.ts'
import { startProxy } from './proxy.ts'

interface Place {
  /** Reaches the database through a network that the test cuts. */
  readonly store: Store
  /** Another node, which is not cut off. */
  readonly other: Store
  /** Cuts the network, and resolves once a read of the store has failed because of it. */
  goAway(): Promise<void>
  comeBack(): void
}

async function place(): Promise<Place> {
  const url = await tempDatabase()
  const proxy = await startProxy(url)
  const other = await openIn(url)
  const real = await postgresBackend({ url: proxy.url })
  let failed = Promise.withResolvers<void>()
  const telling =
    <A extends readonly unknown[], R>(read: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      try {
        return await read(...given)
      } catch (error) {
        failed.resolve()
        throw error
      }
    }
  const backend: Backend = {
    ...real,
    queries: { ...real.queries, ready: telling(real.queries.ready) },
    leases: { ...real.leases, read: telling(real.leases.read) },
  }
  const store = await open({ backend, lease: { ttl: '20s', renew: '500ms' } })
  later(() => store.close())
  later(() => proxy.shut(false))
  return {
    store,
    other,
    goAway: () => {
      failed = Promise.withResolvers()
      proxy.shut(true)
      return failed.promise
    },
    comeBack: () => proxy.shut(false),
  }
}

const elapsed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await work()
  return performance.now() - began
}

const UNREACHABLE = 'DATABASE_UNREACHABLE'

describe('during an outage', () => {
  test('a claim that waits outlives an outage and takes the item that is offered afterwards', async () => {
    const { store, other, goAway, comeBack } = await place()
    const claiming = store.queue('q').claim({ wait: '1m' })
    await goAway()
    await other.queue('q').offer(7)
    comeBack()
    const claim = await claiming
    expect(claim?.payload).toBe(7)
    await claim?.complete()
    await expectSound(other)
  })

  test('a claim that waits is told of an outage once its time is over, and one that does not wait at once', async () => {
    const { store, goAway, comeBack } = await place()
    const waiting = store.queue('q').claim({ wait: '1m', signal: AbortSignal.timeout(60_000) })
    await goAway()
    expect(await codeOf(store.queue('q').claim())).toBe(UNREACHABLE)
    const ms = await elapsed(async () => expect(await codeOf(store.queue('q').claim({ wait: 300 }))).toBe(UNREACHABLE))
    expect(ms).toBeGreaterThanOrEqual(300)
    comeBack()
    await store.queue('q').offer(1)
    expect((await waiting)?.payload).toBe(1)
  })

  test('a run that waits for a signal outlives an outage and takes the signal that is sent afterwards', async () => {
    const { store, other, goAway, comeBack } = await place()
    const run = await (await store.session('s')).run('r')
    const reply = run.signal('reply', { within: '1m' })
    await expect.poll(async () => (await other.runs.get(run.id))?.waits.length).toBe(1)
    await goAway()
    await other.signal('s', 'reply', 'yes')
    comeBack()
    expect(await reply).toBe('yes')
    await run.finish()
    await expectSound(other)
  })

  test('a run that waits for a signal is told of an outage once its time is over, and whoever opens it next goes on', async () => {
    const { store, other, goAway, comeBack } = await place()
    const session = await store.session('s')
    const run = await session.run('r')
    const reply = codeOf(run.signal('reply', { within: '2s' }))
    await expect.poll(async () => (await other.runs.get(run.id))?.waits.length).toBe(1)
    await goAway()
    expect(await reply).toBe(UNREACHABLE)
    // The wait began before the outage and is over by now, which the store says after it.
    comeBack()
    await run.close()
    const again = await session.run('r', { wait: '1m' })
    expect(await again.signal('reply', { within: '2s' })).toBeUndefined()
    await again.finish()
    await expectSound(other)
  })

  test('a wait that is asked for during an outage begins after it', async () => {
    const { store, other, goAway, comeBack } = await place()
    const run = await (await store.session('s')).run('r')
    const claiming = store.queue('q').claim({ wait: '1m' })
    await goAway()
    const reply = run.signal('reply', { within: '1m' })
    comeBack()
    await expect.poll(async () => (await other.runs.get(run.id))?.waits.length).toBe(1)
    await other.signal('s', 'reply', 'yes')
    expect(await reply).toBe('yes')
    await other.queue('q').offer(1)
    await claiming
    await run.finish()
    await expectSound(other)
  })
})

describe('a connection that breaks during a garbage collection', () => {
  test.each([
    ['insert into inkfast.collections', 'cut the request'],
    ['insert into inkfast.collections', 'lose the reply'],
    ['delete from inkfast.nodes n where', 'lose the reply'],
    ['delete from inkfast.blobs where', 'lose the reply'],
    ['update inkfast.collections set active = 0', 'cut the request'],
  ] as const)('at "%s", is a typed error (%s), and the next collection deletes the rest', async (statement, fault) => {
    const proxy = await startProxy(await tempDatabase())
    const store = await openIn(proxy.url)
    const kept = await store.values.put({ kept: 'x'.repeat(500) })
    await store.session('s').then((session) => session.append('a.b', { kept }, { refs: [kept] }))
    const left = await store.values.put({ left: 'y'.repeat(500) })
    const blob = await store.blobs.put(new Uint8Array([1, 2, 3]))
    const struck = proxy.strike(statement, fault)
    const collecting = store.collect({ grace: 0 })
    await expect(collecting).rejects.toMatchObject({
      code: 'COLLECTION_INTERRUPTED',
      kind: 'unavailable',
      details: { tenant: store.tenantId, reason: expect.any(String) },
    })
    await struck
    await store.collect({ grace: 0 })
    expect(await store.values.get(kept)).toEqual({ kept: 'x'.repeat(500) })
    expect(await codeOf(store.values.get(left))).toBe('VALUE_MISSING')
    expect(await codeOf(store.blobs.get(blob))).toBe('BLOB_UNKNOWN')
    await expectSound(store)
  })
})
