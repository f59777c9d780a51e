// Sessions, runs and what stands around them, in lines as a program writes them: names, arguments and the shapes of results.

import { describe, expect, test } from 'vitest'
import type { Event, Refusal, Run } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

describe.each(engines)('on $name', (engine) => {
  test('effects, guarded appends, usage, approvals, events and leases read as their lines', async () => {
    const { store, pass } = await engine.openInTime({ schedule: false, lease: { owner: 'node-1' } })
    const session = await store.session('chat')

    const run: Run = await session.run('answer', { signal: new AbortController().signal })
    const model = async (prompt: string) => ({ text: `re: ${prompt}` })
    const answer = await run.effect('ask model', () => model('hello'), { input: 'hello' })
    expect(answer.text).toBe('re: hello')
    const asked = await run.effect('pay', ({ key }) => key)
    const runId = run.id
    expect(await store.runs.effectKey(runId, { branch: '', name: 'pay', ordinal: 1 })).toBe(asked)
    await run.usage({ source: 'title', model: 'm', inputTokens: 7, outputTokens: 2 })
    await run.close()
    const again = await session.run('answer')
    expect(await codeOf(again.effect('ask model', () => model('bye'), { input: 'bye' }))).toBe('REPLAY_DIVERGED')
    await again.close()

    await store.queue('jobs').offer({ n: 1 })
    const claim = await store.queue('jobs').claim({ lease: '30s', renew: false, wait: 1000 })
    if (!claim) throw new Error('no item')
    await session.append('step.done', { n: 3 }, { under: claim })
    await pass(31_000)
    const taken = await store.queue('jobs').claim({ wait: '5s' })
    expect(taken?.id).toBe(claim.id)
    expect(await codeOf(session.append('step.done', { n: 4 }, { under: claim }))).toBe('FENCE_LOST')
    await taken?.complete()
    const refusals: Refusal[] = []
    for await (const refusal of store.audit.list({ last: 50 })) refusals.push(refusal)
    expect(refusals[0]?.code).toBe('FENCE_LOST')
    for await (const _ of store.tenant('nobody').audit.list()) throw new Error('a refusal of another tenant')

    const usage = await store.usage({ session: session.id, by: ['source', 'model'] })
    expect(usage).toEqual([{ source: 'title', model: 'm', inputTokens: 7, outputTokens: 2, ...REST }])
    expect(await store.tenant('nobody').usage()).toEqual([])

    const { id: asking, digest = '' } = await store
      .as('ada')
      .approvals.request({ subject: 'pay', data: { amount: 5 }, session: session.id, key: 'req-1', within: '10m' })
    await store.as('bob').approvals.decide(asking, { decision: 'approve' })
    const [subject, key, decidedBy, askedBy, since, until] = ['pay', 'req-1', 'bob', 'ada', new Date(0), store.now() + 60_000]
    const list = await store.approvals.list({ subject, key, decidedBy, askedBy, digest, since, until })
    expect(list.items.map(({ id }) => id)).toEqual([asking])
    expect(list.cursor).toBeUndefined()
    expect((await store.approvals.list({ decidedBy: 'nobody' })).items).toEqual([])

    const receipt = await session.append('question.asked', { n: 1 }, { key: 'req-81' })
    const event = await store.event(receipt.id)
    const same: Event | undefined = await store.event({ key: 'req-81', session: session.id })
    expect(event).toMatchObject({ id: receipt.id, data: { n: 1 } })
    expect(same).toEqual(event)
    expect([await store.event(asking), await store.event({ key: 'other', session: session.id })]).toEqual([undefined, undefined])
    expect(Number.isInteger(store.now())).toBe(true)
    await expectSound(store)
  })

  test('a lease ends with its block, and the next holder learns whom it displaced', async () => {
    const { store, pass } = await engine.openInTime({ schedule: false, lease: { owner: 'node-1' } })
    const session = await store.session('chat')
    {
      await using lease = await session.lease({ ttl: '30s', wait: 0 })
      expect(lease.fence).toBeGreaterThan(0)
      expect(lease.displaced).toBeUndefined()
      expect(await codeOf(session.lease({ wait: 0 }))).toBe('SESSION_HELD')
      await session.append('step.done', {}, { under: lease })
    }
    const lost = await session.lease({ ttl: 10_000 })
    await pass(11_000)
    await using lease = await session.lease({ ttl: '30s', wait: '5s', signal: AbortSignal.timeout(60_000) })
    expect(lease.displaced).toEqual({ owner: 'node-1', fence: lost.fence, lapsedAt: expect.any(Number) })
    expect(await codeOf(session.append('step.done', {}, { under: lost }))).toBe('FENCE_LOST')
  })

  test('an append takes an id, a time, large data and references', async () => {
    const store = await engine.open()
    const session = await store.session('chat')
    const ref = await store.values.put({ a: 1 })
    const blob = await store.blobs.put(Uint8Array.of(1, 2, 3))
    const data = { text: 'word '.repeat(200_000) }
    const [id, at] = ['01K1Y2Z3A4B5C6D7E8F9G0H1J2', new Date(store.now() - 1000)]
    const receipt = await session.append('order.placed', data, { id, at, large: 'blob', refs: [ref, blob] })
    expect(receipt.id).toBe(id)
    const event = await store.event(id)
    if (!event) throw new Error('no event')
    expect([event.at, event.data, event.blob?.bytes]).toEqual([at.getTime(), undefined, JSON.stringify(data).length])
    expect(await store.data(event)).toEqual(data)
    expect((await session.append('order.placed', data, { id, at, large: 'blob', refs: [ref, blob] })).seq).toBe(receipt.seq)
    const small = await session.append('order.placed', { n: 1 }, { at: store.now() })
    const found = await store.event(small.id)
    expect(found && (await store.data(found))).toEqual({ n: 1 })
    await store.collect({ grace: 0 })
    expect([await store.values.get(ref), await store.blobs.get(blob)]).toEqual([{ a: 1 }, Uint8Array.of(1, 2, 3)])
    await expectSound(store)
  })
})

const REST = { cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, costNanoUsd: 0 }
