// A session lease without a run: exclusive in this process and among processes, renewed only by its holder.

import { describe, expect, test } from 'vitest'
import type { InkError } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

describe.each(engines)('on $name', (engine) => {
  test('a session lease that is held is refused with SESSION_HELD, and free after its release', async () => {
    const store = await engine.open({ lease: { owner: 'node-1' } })
    const session = await store.session('s')
    {
      await using lease = await session.lease({ ttl: '30s', wait: 0 })
      expect(lease.displaced).toBeUndefined()
      const held = (await session.lease({ wait: 0 }).catch((error: InkError) => error)) as InkError
      expect(held).toMatchObject({ code: 'SESSION_HELD', details: { owner: 'node-1', fence: lease.fence, session: session.id } })
      await lease.renew()
    }
    const next = await session.lease({ wait: 0 })
    expect(next.displaced).toBeUndefined()
    await Promise.all([next.release(), next.release()])
    await next.release()
    expect(await codeOf(next.renew())).toBe('CLAIM_SETTLED')
    const types: string[] = []
    for await (const { type } of store.events({ session: session.id, types: ['lease.*'] })) types.push(type)
    expect(types).toEqual(['lease.taken', 'lease.released', 'lease.taken', 'lease.released'])
    await expectSound(store)
  })

  test('one of many callers gets a session lease, and a caller that waits gets it after the release', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const tried = await Promise.allSettled(Array.from({ length: 8 }, () => session.lease()))
    const [first, ...more] = tried.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(more).toEqual([])
    const waiting = session.lease({ wait: '60s' })
    await first?.release()
    const second = await waiting
    expect(second.fence).toBeGreaterThan(first?.fence ?? Infinity)
    await second.release()
    await expectSound(store)
  })

  test('a session lease that expired is taken by the next holder, which learns whom it displaced', async () => {
    const { store, now, pass } = await engine.openInTime({ schedule: false, lease: { owner: 'node-1' } })
    const session = await store.session('s')
    const first = await session.lease({ ttl: '10s' })
    await pass(6000)
    await first.renew()
    await pass(6000)
    expect(await codeOf(session.lease())).toBe('SESSION_HELD')
    await pass(6000)
    const second = await session.lease()
    expect(second.displaced).toEqual({ owner: 'node-1', fence: first.fence, lapsedAt: expect.any(Number) })
    expect(second.displaced?.lapsedAt).toBeLessThanOrEqual(await now())
    expect(await codeOf(first.renew())).toBe('FENCE_LOST')
    expect(await codeOf(first.release())).toBe('FENCE_LOST')
    await first[Symbol.asyncDispose]()
    await second.release()
    await expectSound(store)
  })

  test('a session lease and a run of the session exclude each other, also in one process', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const lease = await session.lease()
    expect(await codeOf(session.run('r'))).toBe('RUN_HELD')
    const parallel = await session.run('p', { parallel: true })
    await parallel.finish()
    const waiting = session.run('r', { wait: '60s' })
    await lease.release()
    const run = await waiting
    expect(await codeOf(session.lease())).toBe('SESSION_HELD')
    await run.finish()
    await (await session.lease()).release()
    await expectSound(store)
  })

  test('a session lease is refused on an archived session, and released when its store closes', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await session.lease()
    await session.archive()
    const other = await store.session('other')
    await other.archive()
    expect(await codeOf(other.lease())).toBe('SESSION_ARCHIVED')
    expect(await codeOf(session.lease({ ttl: 0 }))).toBe('OPTION_INVALID')
    await expectSound(store)
    const released = store.events({ types: ['lease.released'], live: true })
    const first = released.next()
    await store.close()
    expect((await first).value).toMatchObject({ session: session.id })
  })

  test('a node leaves the runs of a session alone while a session lease is held, and takes them after its release', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const lease = await session.lease()
    const handle = await store.start('r', { session: 's' })
    const other = await store.start('r', { session: 'other' })
    await using _ = store.work({ r: () => 'done' })
    expect(await other.result()).toBe('done')
    expect(await handle.state()).toBe('pending')
    await lease.release()
    expect(await handle.result()).toBe('done')
    await expectSound(store)
  })

  test('a session lease of a deleted session writes nothing to it any more, and can be released', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const lease = await session.lease()
    await session.delete({ reason: 'subject request 12' })
    expect(await codeOf(session.append('note.made', 1, { under: lease }))).toBe('SESSION_DELETED')
    await lease.release()
    await expectSound(store)
  })
})
