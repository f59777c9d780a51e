// Where triggers end: what is refused, how many there may be, and what is left of what was erased.

import { describe, expect, test } from 'vitest'
import { type Delivered, limits, type Store, type TriggerOptions } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'
import { complaintsOf } from './trigger-oracle.ts'

const asked: TriggerOptions = { source: 'stripe', queue: 'billing' }

const seqOf = async (store: Store, type: string): Promise<number> => {
  for await (const event of store.events({ types: [type] })) return event.seq
  throw new Error(`there is no ${type}`)
}

describe.each(engines)('triggers on $name', (engine) => {
  test('bad input about triggers is refused and writes nothing', async () => {
    const store = await engine.open()
    const { triggers } = store
    await triggers.on('t', asked)
    const { seq } = await store.head()
    const wrong = (more: object) => () => triggers.on('t', { ...asked, ...more })
    const codes: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['RUN_NAME_INVALID', () => triggers.on('', asked)],
      ['RUN_NAME_INVALID', () => triggers.on('a\nb', asked)],
      ['RUN_NAME_INVALID', wrong({ source: '' })],
      ['RUN_NAME_INVALID', wrong({ source: 7 })],
      ['QUEUE_NAME_INVALID', wrong({ queue: 'runs/answer' })],
      ['QUEUE_NAME_INVALID', wrong({ queue: 'clock/cron' })],
      ['QUEUE_NAME_INVALID', wrong({ queue: undefined })],
      ['OPTION_INVALID', () => triggers.on('t', 'stripe' as unknown as TriggerOptions)],
      ['OPTION_INVALID', wrong({ mach: { type: 'invoice.paid' } })],
      ['OPTION_INVALID', wrong({ key: 'evt_1' })],
      ['OPTION_INVALID', wrong({ expect: -1 })],
      ['OPTION_INVALID', wrong({ expect: '1' })],
      ['OPTION_INVALID', wrong({ attempts: 0 })],
      ['OPTION_INVALID', wrong({ priority: 0.5 })],
      ['DURATION_INVALID', wrong({ delay: -1 })],
      ['DURATION_INVALID', wrong({ delay: 'soon' })],
      ['TRIGGER_INVALID', wrong({ match: 'invoice.paid' })],
      ['TRIGGER_INVALID', wrong({ match: ['invoice.paid'] })],
      ['TRIGGER_INVALID', wrong({ match: null })],
      ['TRIGGER_INVALID', wrong({ match: { amount: { gte: 1, currency: 'EUR' } } })],
      ['TRIGGER_INVALID', wrong({ match: { amount: { gte: [] } } })],
      ['TRIGGER_INVALID', wrong({ with: 'x'.repeat(limits.triggerBytes) })],
      ['DATA_INVALID', wrong({ match: { type: undefined } })],
      ['TRIGGER_INVALID', wrong({ match: new Date(0) })],
      ['DATA_INVALID', wrong({ with: Number.NaN })],
      ['TRIGGER_UNKNOWN', () => triggers.disable('nobody')],
      ['TRIGGER_UNKNOWN', () => triggers.enable('nobody')],
      ['TRIGGER_UNKNOWN', () => triggers.delete('nobody')],
      ['TRIGGER_UNKNOWN', () => triggers.history({ trigger: 'nobody' })],
      ['OPTION_INVALID', () => triggers.history({ trigger: 't', source: 'stripe' })],
      ['RANGE_INVALID', () => triggers.history({ last: 0 })],
      ['RANGE_INVALID', () => triggers.list({ last: limits.listRows + 1 })],
      ['RANGE_INVALID', () => triggers.list({ state: 'asleep' as 'enabled' })],
      ['CURSOR_INVALID', () => triggers.list({ cursor: 'nonsense' })],
      ['ID_INVALID', () => triggers.firing('nonsense')],
      ['RUN_NAME_INVALID', () => triggers.fire('', {})],
      ['DATA_INVALID', () => triggers.fire('stripe', undefined)],
      ['DATA_INVALID', () => triggers.fire('stripe', { at: new Map() })],
      ['KEY_INVALID', () => triggers.fire('stripe', {}, { key: '' })],
      ['KEY_INVALID', () => triggers.fire('stripe', {}, { key: 'x'.repeat(limits.keyBytes + 1) })],
      ['OPTION_INVALID', () => triggers.fire('stripe', {}, 'evt_1' as unknown as { key: string })],
    ]
    const found: string[] = []
    for (const [, ask] of codes) found.push(await codeOf((async () => ask())()))
    expect(found).toEqual(codes.map(([code]) => code))
    expect((await store.head()).seq).toBe(seq)
    expect(await triggers.firing('01ARZ3NDEKTSV4RRFFQ69G5FAV')).toBeUndefined()
    await store.close()
    expect(await codeOf(triggers.fire('stripe', {}))).toBe('STORE_CLOSED')
    expect(await codeOf(triggers.on('t', asked))).toBe('STORE_CLOSED')
  })

  test('a source has so many triggers and no more, and one commit tells them all', async () => {
    const store = await engine.open()
    const { triggers } = store
    const all = Array.from({ length: limits.sourceTriggers }, (_, i) => `t${i}`)
    await Promise.all(all.map((name) => triggers.on(name, { ...asked, with: 'x'.repeat(500) })))
    const { seq } = await store.head()
    expect(await codeOf(triggers.on('one more', asked))).toBe('TRIGGER_LIMIT')
    expect((await store.head()).seq).toBe(seq)
    const { deliveries } = await triggers.fire('stripe', { text: 'x'.repeat(20_000) }, { key: 'evt_1' })
    expect(deliveries.map(({ trigger }) => trigger).toSorted()).toEqual(all.toSorted())
    expect((await store.head()).seq).toBe(seq + 1 + 2 * all.length)
    expect((await triggers.fire('stripe', { text: 'x'.repeat(20_000) }, { key: 'evt_1' })).deliveries).toEqual(deliveries)
    // A disabled one still has its place; a deleted one does not, nor one that went elsewhere.
    await triggers.disable('t0')
    expect(await codeOf(triggers.on('one more', asked))).toBe('TRIGGER_LIMIT')
    await triggers.delete('t1')
    await triggers.on('one more', asked)
    await triggers.on('t2', { ...asked, source: 'github' })
    await triggers.on('t1', asked)
    expect(await codeOf(triggers.on('another', asked))).toBe('TRIGGER_LIMIT')
    expect(await complaintsOf(store)).toEqual([])
    await expectSound(store)
  })

  test('an erased firing is not delivered any more, and its key stays taken', async () => {
    const store = await engine.open()
    const { triggers } = store
    await triggers.on('t', asked)
    await triggers.on('u', { ...asked, queue: 'other' })
    const { firing, deliveries } = await triggers.fire('stripe', { person: 'Ada Lovelace' }, { key: 'evt_1' })
    await (await store.queue<Delivered>('other').claim())?.complete()
    await store.erase({ seq: await seqOf(store, 'trigger.fired'), reason: 'subject request 12' })
    await expectSound(store)
    for await (const event of store.events()) expect(JSON.stringify(event)).not.toContain('Lovelace')
    expect(await codeOf(store.queue('billing').claim())).toBe('FIRING_ERASED')
    expect(await store.queue('billing').list({ state: 'dead' })).toMatchObject({ items: [{ error: { code: 'FIRING_ERASED' } }] })
    expect(await store.queue('billing').claim()).toBeUndefined()
    expect(await triggers.firing(firing)).toMatchObject({ erased: true, deliveries: [{ state: 'dead' }, { state: 'delivered' }] })
    expect(await triggers.firing(firing)).not.toHaveProperty('payload')
    expect((await triggers.history({ trigger: 't' })).items).toMatchObject([
      { id: firing, erased: true, deliveries: [{ id: deliveries[0]?.id }] },
    ])
    expect(await codeOf(triggers.fire('stripe', { person: 'Ada Lovelace' }, { key: 'evt_1' }))).toBe('KEY_REUSED')
    await expectSound(store)
  })

  test('erasing any event leaves rows that are the fold of the rest', async () => {
    const store = await engine.open()
    const { triggers } = store
    await triggers.on('t', asked)
    await triggers.on('t', { ...asked, match: { type: 'a' } })
    await triggers.on('u', asked)
    await triggers.fire('stripe', { type: 'a' }, { key: 'evt_1' })
    await (await store.queue('billing').claim())?.fail(new Error('no'), { final: true })
    await (await store.queue('billing').claim())?.complete()
    await triggers.disable('u')
    await triggers.enable('u')
    await triggers.on('v', asked)
    await triggers.delete('v')
    const { seq: head } = await store.head()
    for (let seq = 1; seq <= head; seq++) {
      await store.erase({ seq, reason: 'all of it' })
      await expectSound(store)
    }
    // It can be used on, and nothing that was erased comes back.
    expect(await triggers.fire('stripe', { type: 'a' }, { key: 'evt_2' })).toMatchObject({ repeated: false, deliveries: [] })
    expect(await triggers.on('t', asked)).toMatchObject({ state: 'enabled', revision: 3 })
    expect(await triggers.fire('stripe', { type: 'a' }, { key: 'evt_3' })).toMatchObject({ deliveries: [{ trigger: 't', revision: 3 }] })
    await expectSound(store)
  })
})
