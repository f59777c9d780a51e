// Firings that are forgotten: what was dealt with goes, with its deliveries, and nothing else does.

import { describe, expect, test } from 'vitest'
import { codeOf, engines, expectSound } from '../support/engines.ts'

describe.each(engines)('triggers on $name', (engine) => {
  test('what fired and was dealt with before a time can be forgotten; what is reserved, underway or dead stays', async () => {
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

  test('what is pruned while a history is read is left out of it', async () => {
    const store = await engine.open()
    await store.triggers.on('mail', { source: 'orders', queue: 'mail' })
    for (let n = 0; n < 40; n++) await store.triggers.fire('orders', { n })
    for (let claim = await store.queue('mail').claim(); claim; claim = await store.queue('mail').claim()) await claim.complete()
    const pruned = store.triggers.prune({ before: Date.now() + 60_000 })
    let last = 40
    while (last > 0) {
      await new Promise((resolve) => setImmediate(resolve))
      const { items } = await store.triggers.history({ trigger: 'mail', last: 100 })
      expect(items.length).toBeLessThanOrEqual(last)
      last = items.length
    }
    expect(await pruned).toEqual({ firings: 40, deliveries: 40 })
    await expectSound(store)
  })
})
