// Appends under the fence of a claim, a run or a session lease.

import { describe, expect, test } from 'vitest'
import type { Claim, Store } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

async function claimOf(store: Store): Promise<Claim> {
  const claim = await store.queue('q').claim({ lease: '30s' })
  if (!claim) throw new Error('nothing was claimed')
  return claim
}

async function typesOf(store: Store): Promise<readonly string[]> {
  const types: string[] = []
  for await (const { type } of store.events({ types: ['step.*'] })) types.push(type)
  return types
}

describe.each(engines)('on $name', (engine) => {
  test('a worker that lost its claim cannot append under it, and the new holder can', async () => {
    const { store, pass } = await engine.openInTime({ schedule: false })
    const session = await store.session('s')
    await store.queue('q').offer(1)
    const first = await claimOf(store)
    await session.append('step.first', 1, { under: first })
    await pass(31_000)
    await session.append('step.lapsed', 2, { under: first })
    const second = await claimOf(store)
    expect(await codeOf(session.append('step.lost', 3, { under: first }))).toBe('FENCE_LOST')
    expect(first.signal.aborted).toBe(true)
    expect(await codeOf(session.append('step.lost', 3, { under: first }))).toBe('FENCE_LOST')
    expect(await codeOf(first.complete())).toBe('FENCE_LOST')
    await session.append('step.second', 4, { under: second })
    // The negative control: without the guard, the worker that lost its claim writes.
    await session.append('step.unguarded', 5)
    await second.complete()
    expect(await typesOf(store)).toEqual(['step.first', 'step.lapsed', 'step.second', 'step.unguarded'])
    await expectSound(store)
  })

  test('appends under one claim do not conflict with each other, and take a key and a guard on the last seq', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await store.queue('q').offer(1)
    const claim = await claimOf(store)
    const receipts = await Promise.all(Array.from({ length: 20 }, (_, n) => session.append('step.done', { n }, { under: claim })))
    expect(new Set(receipts.map(({ seq }) => seq)).size).toBe(20)
    const keyed = await session.append('step.keyed', 1, { under: claim, key: 'k' })
    expect(await session.append('step.keyed', 1, { under: claim, key: 'k' })).toEqual(keyed)
    const after = await session.append('step.after', 1, { under: claim, after: keyed.seq })
    expect(await codeOf(session.append('step.after', 2, { under: claim, after: keyed.seq }))).toBe('HEAD_MOVED')
    expect(after.seq).toBeGreaterThan(keyed.seq)
    await claim.complete()
    await expectSound(store)
  })

  test('a claim that is completed while an append under it is underway stays completed', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await store.queue('q').offer(1)
    const claim = await claimOf(store)
    const { seq } = await session.append('step.first', 1)
    // The append looks up `after` first, so the completion may overtake it.
    const late = codeOf(session.append('step.late', 2, { under: claim, after: seq }))
    await claim.complete()
    expect(['FENCE_LOST', 'no error']).toContain(await late)
    expect(await codeOf(claim.complete())).toBe('CLAIM_SETTLED')
    expect(claim.signal.aborted).toBe(false)
    await expectSound(store)
  })

  test('a handle that is settled or released refuses appends at once', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await store.queue('q').offer(1)
    const claim = await claimOf(store)
    await claim.complete()
    const lease = await session.lease()
    await session.append('step.leased', 1, { under: lease })
    await lease.release()
    const [closed, finished] = [await session.run('closed'), await session.run('finished')]
    await closed.close()
    await finished.finish()
    const { seq } = await store.head()
    for (const under of [claim, lease, closed, finished])
      expect(await codeOf(session.append('step.late', 1, { under }))).toBe('CLAIM_SETTLED')
    expect((await store.head()).seq).toBe(seq)
    await expectSound(store)
  })

  test('an append under a run names the run and is not on its tape', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('r')
    await run.append('step.taped', 1)
    await session.append('step.beside', 2, { under: run })
    await session.append('step.named', 3, { run: run.id })
    const named: string[] = []
    for await (const { type } of store.events({ run: run.id, types: ['step.*'] })) named.push(type)
    expect(named).toEqual(['step.taped', 'step.beside', 'step.named'])
    const taped: string[] = []
    for await (const { type } of run.tape()) if (type.startsWith('step.')) taped.push(type)
    expect(taped).toEqual(['step.taped'])
    await run.close()
    const again = await session.run('r')
    await again.append('step.taped', 1)
    await again.effect('look', () => 1)
    await again.finish()
    await expectSound(store)
  })

  test('an append under a run is refused once another holder has its lease', async () => {
    const { store, pass } = await engine.openInTime({ schedule: false, lease: { ttl: '30s', renew: '10s' } })
    const session = await store.session('s')
    const run = await session.run('r')
    await session.append('step.first', 1, { under: run })
    await pass(31_000)
    await session.append('step.lapsed', 2, { under: run })
    const lease = await session.lease()
    expect(await codeOf(session.append('step.lost', 3, { under: run }))).toBe('FENCE_LOST')
    expect(run.aborted.aborted).toBe(true)
    await session.append('step.leased', 4, { under: lease })
    expect(await typesOf(store)).toEqual(['step.first', 'step.lapsed', 'step.leased'])
    await expectSound(store)
  })

  test('an append is refused under anything but a handle of its tenant, and under a run of another session', async () => {
    const store = await engine.open()
    const [session, other] = [await store.session('s'), await store.session('other')]
    const elsewhere = store.tenant('elsewhere')
    await elsewhere.queue('q').offer(1)
    const claim = await claimOf(elsewhere)
    const run = await other.run('r')
    for (const under of [claim, run, {}, 'claim', null])
      expect(await codeOf(session.append('step.wrong', 1, { under: under as Claim }))).toBe('OPTION_INVALID')
    expect(await codeOf(other.append('step.wrong', 1, { under: run, run: session.id }))).toBe('OPTION_INVALID')
    await other.append('step.right', 1, { under: run, run: run.id })
    expect(await typesOf(store)).toEqual(['step.right'])
    await expectSound(store)
  })
})
