// Corners of work and time: what an erasure leaves, what is in the way, and what is asked for too often. Nothing is stuck, and rows stay the fold.

import { describe, expect, test } from 'vitest'
import { codeOf, expectSound, layouts } from '../support/engines.ts'

const some = layouts.filter(({ name }) => name === 'memory' || name === 'sqlite' || name === 'postgres')

const seqsOf = async (store: Awaited<ReturnType<(typeof some)[0]['open']>>, type: string): Promise<readonly number[]> => {
  const seqs: number[] = []
  for await (const e of store.events({ types: [type] })) seqs.push(e.seq)
  return seqs
}

describe.each(some)('on $name', (engine) => {
  test('an instant in the past that is left out is over, however often it is set', async () => {
    const { store } = await engine.openInTime({ schedule: false })
    const past = { at: 1, missed: 'skip', queue: 'q' } as const
    for (let i = 0; i < 3; i++) {
      await store.cron.set('job', past)
      expect(await store.cron.tick()).toMatchObject({ failed: 0 })
      expect(await store.cron.get('job')).toMatchObject({ state: 'over' })
      expect(await store.cron.tick()).toMatchObject({ handled: 0, failed: 0 })
      await store.cron.delete('job')
    }
    await store.cron.set('job', past)
    await store.cron.tick()
    await store.cron.set('job', { ...past, at: 2 })
    await store.cron.tick()
    await store.cron.set('job', past)
    expect(await store.cron.tick()).toMatchObject({ failed: 0 })
    expect(await store.cron.get('job')).toMatchObject({ state: 'over' })
    await expectSound(store)
  })

  test('an item with erased events can still be claimed', async () => {
    const store = await engine.open()
    const queue = store.queue<number>('q')
    await queue.offer(1)
    await queue.offer(2)
    await (await queue.claim())?.release()
    const [released] = await seqsOf(store, 'work.released')
    await store.erase({ seq: released ?? 0, reason: 'test' })
    expect((await queue.claim())?.payload).toBe(1)
    const claimed = (await seqsOf(store, 'work.claimed')).at(-1)
    await store.erase({ seq: claimed ?? 0, reason: 'test' })
    expect((await queue.claim())?.payload).toBe(1)
    await expectSound(store)
  })

  test('an erased grant leaves rows that are the fold of the journal', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await store.processes.register('crawl', { kind: 'tool', recovery: 'external' })
    for (const label of ['a', 'b', 'c']) await store.processes.grant('crawl', session.id, { label })
    for (const seq of await seqsOf(store, 'grant.given')) {
      await store.erase({ seq, reason: 'test' })
      await expectSound(store)
    }
  })

  test('an item has no option that nobody knows', async () => {
    const store = await engine.open()
    expect(await codeOf(store.queue('q').offer(1, { dealy: '5m' } as never))).toBe('OPTION_INVALID')
  })
})

test('looking at a question is on record once for each, and for so many', async () => {
  const memory = some[0] as (typeof some)[0]
  const store = await memory.open()
  const { id } = await store.approvals.request({ subject: 'refund' })
  for (let i = 0; i < 60; i++) for (let k = 0; k < 2; k++) await store.approvals.seen(id, { by: `user/${i}` })
  const seen = await seqsOf(store, 'approval.seen')
  expect(seen).toHaveLength(50)
  await expectSound(store)
})

test('tenants whose items others hold take the place of none', async () => {
  const memory = some[0] as (typeof some)[0]
  const { store, pass } = await memory.openInTime()
  for (let i = 0; i < 110; i++) {
    const queue = store.tenant(`t${i}`).queue('q')
    await queue.offer(i)
    const claim = await queue.claim({ lease: 10 })
    await claim?.renew('1h')
  }
  await pass(1000)
  await store.tenant('zz').queue('q').offer('here')
  const seen: unknown[] = []
  await using worker = store.queue('q').work((claim) => void seen.push(claim.payload), { tenants: 'all' })
  await expect.poll(() => worker.stats().completed).toBe(1)
  expect(seen).toEqual(['here'])
})
