// Firings that are forgotten: what was dealt with goes, with its deliveries, and nothing else does.

import { describe, expect, test } from 'vitest'
import { memoryBackend } from '../../src/backends/memory/backend.ts'
import { nodeEnvironment } from '../../src/environment.ts'
import { open } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { codeOf, engines, expectSound, later } from '../support/engines.ts'

describe.each(engines)('triggers on $name', (engine) => {
  test('firings settled before a time can be pruned; reserved, running and dead ones stay', async () => {
    const { store, now, pass } = await engine.openInTime()
    await store.triggers.on('mail', { source: 'orders', queue: 'mail', attempts: 1 })
    const fired = new Map<string, string>()
    const fire = async (key: string, to = 'orders') => void fired.set(key, (await store.triggers.fire(to, { key }, { key })).firing)
    const mail = store.queue('mail')
    for (const key of ['delivered', 'cancelled', 'dead', 'underway', 'reserved']) await fire(key)
    await fire('to nobody', 'elsewhere')
    await (await mail.claim())?.complete()
    const [cancelled] = (await store.triggers.firing(fired.get('cancelled') ?? ''))?.deliveries ?? []
    await mail.cancel(cancelled?.item ?? '', { reason: 'not wanted' })
    await (await mail.claim())?.fail(new Error('no'))
    await mail.claim()
    const before = (await now()) + 1000
    await pass(2000)
    await fire('new')
    expect(await store.triggers.prune({ before: 0 })).toEqual({ firings: 0, deliveries: 0 })
    expect(await store.triggers.prune({ before })).toEqual({ firings: 3, deliveries: 2 })
    expect(await store.triggers.prune({ before: new Date(before) })).toEqual({ firings: 0, deliveries: 0 })
    const left = (await store.triggers.history()).items.map(({ key }) => key)
    expect(left).toEqual(['new', 'reserved', 'underway', 'dead'])
    expect(await store.triggers.firing(fired.get('delivered') ?? '')).toBeUndefined()
    // Who fires once more what is only forgotten is told that it was there; nobody is told twice.
    expect(await store.triggers.fire('orders', { key: 'delivered' }, { key: 'delivered' })).toMatchObject({
      repeated: true,
      deliveries: [],
    })
    // A dead one is brought back as if nothing had happened.
    const [redriven] = await mail.redrive()
    await store.triggers.prune({ before })
    const { items } = await store.triggers.history({ trigger: 'mail' })
    expect(items.find(({ key }) => key === 'dead')).toMatchObject({ deliveries: [{ state: 'reserved' }] })
    expect(redriven?.state).toBe('ready')
    expect(await codeOf(store.triggers.prune({ before: 'monday' as never }))).toBe('RANGE_INVALID')
    await expectSound(store)
  })

  test('a firing stays while an item of it waits, also after what was said of the delivery is erased', async () => {
    const { store, now, pass } = await engine.openInTime()
    await store.triggers.on('mail', { source: 'orders', queue: 'mail' })
    const { firing } = await store.triggers.fire('orders', { order: 7 }, { key: 'o-7' })
    for await (const { seq } of store.events({ types: ['delivery.reserved'] })) await store.erase({ seq, reason: 'request 12' })
    await pass(2000)
    const before = (await now()) + 1000
    expect(await store.triggers.prune({ before })).toEqual({ firings: 0, deliveries: 0 })
    const [delivery] = (await store.triggers.firing(firing))?.deliveries ?? []
    expect(delivery).toMatchObject({ state: 'reserved', erased: true })
    expect(delivery).not.toHaveProperty('trigger')
    expect((await store.triggers.history({ trigger: 'mail' })).items).toMatchObject([{ key: 'o-7', deliveries: [{ erased: true }] }])
    // A repeated firing names those it told by their triggers, and this one has no name any more.
    expect(await store.triggers.fire('orders', { order: 7 }, { key: 'o-7' })).toEqual({ firing, repeated: true, deliveries: [] })
    const claim = await store.queue<{ payload: unknown }>('mail').claim()
    expect(claim?.payload.payload).toEqual({ order: 7 })
    await claim?.complete()
    await expectSound(store)
    await pass(2000)
    expect(await store.triggers.prune({ before: (await now()) + 1000 })).toEqual({ firings: 1, deliveries: 1 })
    await expectSound(store)
  })
})

test('a firing that is pruned between two pages of a history is left out of it', async () => {
  const real = memoryBackend(nodeEnvironment)
  let between = async (): Promise<unknown> => undefined
  const list: Backend['rows']['list'] = async (tenant, table, query) => {
    const page = await real.rows.list(tenant, table, query)
    // Those of a trigger were read, and what they are of was not yet.
    if (table === 'deliveries' && query.index === 'byTrigger') await between()
    return page
  }
  const store = await open({ backend: { ...real, rows: { ...real.rows, list } } })
  later(() => store.close())
  await store.triggers.on('mail', { source: 'orders', queue: 'mail' })
  for (const key of ['delivered', 'reserved']) await store.triggers.fire('orders', {}, { key })
  await (await store.queue('mail').claim())?.complete()
  between = async () => expect(await store.triggers.prune({ before: Date.now() + 60_000 })).toEqual({ firings: 1, deliveries: 1 })
  expect((await store.triggers.history({ trigger: 'mail' })).items.map(({ key }) => key)).toEqual(['reserved'])
  await expectSound(store)
})
