// The lines of the API about work and time, as a program writes them.

import { describe, expect, test } from 'vitest'
import { verifyApprovals } from '../../src/index.ts'
import { engines, expectSound } from '../support/engines.ts'

interface Mail {
  readonly to: string
}

describe.each(engines)('work and time on $name', (engine) => {
  test('the lines of the API do what they say', async () => {
    const { store, pass } = await engine.openInTime()
    const session = await store.session('support/4711')

    const outbox = store.queue<Mail>('outbox')
    await outbox.offer({ to: 'ada' }, { key: 'welcome/ada', delay: '5m', group: 'ada', attempts: 5, backoff: '2s' })
    expect(await outbox.claim({ lease: '30s' })).toBeUndefined()
    await pass(301_000)
    {
      await using claim = await outbox.claim({ lease: '30s' })
      expect(claim).toMatchObject({ payload: { to: 'ada' }, attempt: 1 })
      expect(claim?.fence).toBeGreaterThan(0)
      await claim?.complete()
    }
    {
      const done: string[] = []
      await using worker = outbox.work(async (claim) => void done.push(claim.payload.to), { concurrency: 8 })
      await outbox.offer({ to: 'grace' })
      await expect.poll(() => worker.stats().completed).toBe(1)
      expect(done).toEqual(['grace'])
    }

    await session.input({ text: 'also check the address' }, { turn: 'active', key: 'm-12' })
    expect((await session.inputs.list()).items).toMatchObject([{ state: 'deferred', key: 'm-12' }])

    await store.cron.set('digest', {
      cron: '0 9 * * 1-5',
      zone: 'Europe/Paris',
      overlap: 'queueOne',
      missed: 'once',
      queue: 'digest',
      payload: {},
    })
    await store.cron.set('often', { every: '15m', queue: 'digest' })
    await store.cron.set('once', { at: new Date('2100-01-01T00:00:00Z'), queue: 'digest' })
    expect((await store.cron.list()).items.map(({ name }) => name)).toEqual(['once', 'often', 'digest'])

    await store.triggers.on('invoice-paid', { source: 'stripe', match: { type: 'invoice.paid' }, queue: 'billing' })
    await store.triggers.fire('stripe', { type: 'invoice.paid', amount: 120 }, { key: 'evt_1' })
    await store.triggers.fire('stripe', { type: 'invoice.paid', amount: 120 }, { key: 'evt_1' })
    expect(await store.queue('billing').stats()).toMatchObject({ ready: 1 })

    const child = await store.processes.register('crawl-1', { kind: 'tool', recovery: 'rerunnable', wake: session.id })
    await child.event('page.fetched', { url: 'https://example.org' }, { key: 'p1' })
    await child.complete({ pages: 12 })
    expect((await child.result()).value).toEqual({ pages: 12 })
    expect((await session.inbox.list()).items).not.toEqual([])

    await store.approvals.request({ subject: 'refund 120 EUR', data: { amount: 120 } })
    const pending = await store.approvals.list({ state: 'pending' })
    await store.approvals.decide(pending.items[0]?.id ?? '', { decision: 'approve', by: 'user/grace', note: 'within policy' })
    const lines: string[] = []
    for await (const line of store.approvals.export()) lines.push(line)
    expect(await verifyApprovals(lines)).toMatchObject({ intact: true })
    await expectSound(store)
  })
})
