// Triggers as their users hold them: who is told of what, once for each key, and what becomes of it.

import { describe, expect, test } from 'vitest'
import { type Delivered, limits, type Store } from '../../src/index.ts'
import { codeOf, expectSound, layouts } from '../support/engines.ts'
import { complaintsOf } from './trigger-oracle.ts'

interface Paid {
  readonly type: string
  readonly amount: number
}

const paid: Paid = { type: 'invoice.paid', amount: 120 }

const statesOf = async (store: Store, trigger: string) =>
  (await store.triggers.history({ trigger })).items.map(({ key, deliveries }) => [key, deliveries[0]?.state])

describe.each(layouts)('triggers on $name', (engine) => {
  test('a firing is offered to every trigger that matches, and to no other', async () => {
    const store = await engine.open()
    await store.triggers.on('invoice-paid', { source: 'stripe', match: { type: 'invoice.paid' }, queue: 'billing' })
    await store.triggers.on('large', { source: 'stripe', match: { amount: { gte: 100 } }, queue: 'review', with: { desk: 3 }, priority: 5 })
    await store.triggers.on('small', { source: 'stripe', match: { amount: { lt: 100 } }, queue: 'billing' })
    await store.triggers.on('elsewhere', { source: 'github', queue: 'billing' })
    const fired = await store.triggers.fire('stripe', paid, { key: 'evt_1' })
    expect(fired).toMatchObject({
      repeated: false,
      deliveries: [
        { trigger: 'invoice-paid', revision: 1 },
        { trigger: 'large', revision: 1 },
      ],
    })
    const billing = await store.queue<Delivered<Paid>>('billing').claim()
    expect(billing?.id).toBe(fired.deliveries[0]?.item)
    expect(billing?.payload).toEqual({ trigger: 'invoice-paid', source: 'stripe', firing: fired.firing, payload: paid })
    const review = store.queue<Delivered<Paid>>('review')
    expect(await review.list()).toMatchObject({ items: [{ priority: 5, origin: { kind: 'delivery', id: fired.deliveries[1]?.id } }] })
    expect((await review.claim())?.payload).toMatchObject({ trigger: 'large', payload: paid, with: { desk: 3 } })
    expect(await store.queue('billing').claim()).toBeUndefined()
    // Nobody is told of it, and it happened all the same.
    expect(await store.triggers.fire('nobody', paid, { key: 'evt_1' })).toMatchObject({ repeated: false, deliveries: [] })
    await expectSound(store)
  })

  test('a trigger names the environment that its deliveries are for', async () => {
    const store = await engine.open()
    const env = await store.artifacts.putEnvironment({ node: '24' })
    const on = { source: 'stripe', queue: 'billing' }
    await store.triggers.on('paid', { ...on, env })
    expect((await store.triggers.on('paid', { ...on, env })).revision).toBe(1)
    await store.triggers.fire('stripe', paid)
    expect((await store.queue<Delivered<Paid>>('billing').claim())?.payload).toMatchObject({ trigger: 'paid', env })
    expect((await store.triggers.on('paid', on)).revision).toBe(2)
    expect(await codeOf(store.triggers.on('other', { ...on, env: 'node 24' }))).toBe('OPTION_INVALID')
    await expectSound(store)
  })

  test('the same key is the same firing, also when it is delivered, and another payload with it is refused', async () => {
    const store = await engine.open()
    await store.triggers.on('invoice-paid', { source: 'stripe', queue: 'billing' })
    const first = await store.triggers.fire('stripe', paid, { key: 'evt_1' })
    await (await store.queue('billing').claim())?.complete()
    await store.triggers.on('late', { source: 'stripe', queue: 'billing' })
    const { seq } = await store.head()
    expect(await store.triggers.fire('stripe', { amount: 120, type: 'invoice.paid' }, { key: 'evt_1' })).toEqual({
      ...first,
      repeated: true,
    })
    expect(await codeOf(store.triggers.fire('stripe', { ...paid, amount: 1 }, { key: 'evt_1' }))).toBe('KEY_REUSED')
    expect((await store.head()).seq).toBe(seq)
    expect(await store.queue('billing').claim()).toBeUndefined()
    // Another source has keys of its own, and what has no key happens each time.
    expect((await store.triggers.fire('other', { ...paid, amount: 1 }, { key: 'evt_1' })).repeated).toBe(false)
    const [a, b] = [await store.triggers.fire('stripe', paid), await store.triggers.fire('stripe', paid)]
    expect(a.firing).not.toBe(b.firing)
    expect(await complaintsOf(store)).toEqual([])
    await expectSound(store)
  })

  test('the same definition changes nothing, another one is the next revision, and what is reserved keeps its own', async () => {
    const store = await engine.open()
    const asked = { source: 'stripe', match: { type: 'invoice.paid' }, queue: 'billing' } as const
    expect(await store.triggers.on('t', asked)).toMatchObject({ name: 't', revision: 1, state: 'enabled' })
    await store.triggers.fire('stripe', paid, { key: 'evt_1' })
    const { seq } = await store.head()
    expect(await store.triggers.on('t', asked)).toMatchObject({ revision: 1 })
    expect((await store.head()).seq).toBe(seq)
    expect(await store.triggers.on('t', { ...asked, queue: 'other' })).toMatchObject({ revision: 2, queue: 'other' })
    expect(await codeOf(store.triggers.on('t', { ...asked, expect: 1 }))).toBe('TRIGGER_CHANGED')
    expect(await codeOf(store.triggers.disable('t', { expect: 1 }))).toBe('TRIGGER_CHANGED')
    expect(await codeOf(store.triggers.on('new', { ...asked, expect: 1 }))).toBe('TRIGGER_CHANGED')
    expect(await store.triggers.fire('stripe', paid, { key: 'evt_2' })).toMatchObject({ deliveries: [{ revision: 2 }] })
    expect((await store.triggers.history({ trigger: 't' })).items.map(({ key, deliveries }) => [key, deliveries[0]])).toMatchObject([
      ['evt_2', { revision: 2, queue: 'other' }],
      ['evt_1', { revision: 1, queue: 'billing' }],
    ])
    // To another source: the one it left tells it nothing more.
    expect(await store.triggers.on('t', { ...asked, source: 'paypal', expect: 2 })).toMatchObject({ revision: 3 })
    expect(await store.triggers.fire('stripe', paid)).toMatchObject({ deliveries: [] })
    expect(await store.triggers.fire('paypal', paid)).toMatchObject({ deliveries: [{ revision: 3 }] })
    expect(await complaintsOf(store)).toEqual([])
    await expectSound(store)
  })

  test('a disabled or deleted trigger gets no new firings, reserved deliveries go on, and a new one counts on', async () => {
    const store = await engine.open()
    const asked = { source: 'stripe', queue: 'billing' } as const
    const deliveries = async () => (await store.triggers.fire('stripe', paid)).deliveries.length
    await store.triggers.on('t', asked)
    await store.triggers.fire('stripe', paid, { key: 'evt_1' })
    expect(await store.triggers.disable('t')).toMatchObject({ state: 'disabled', revision: 2 })
    expect(await store.triggers.disable('t')).toMatchObject({ revision: 2 })
    expect(await deliveries()).toBe(0)
    // A program that says the same at every start does not undo this.
    expect(await store.triggers.on('t', asked)).toMatchObject({ state: 'disabled' })
    expect(await deliveries()).toBe(0)
    await (await store.queue('billing').claim())?.complete()
    expect(await statesOf(store, 't')).toEqual([['evt_1', 'delivered']])
    expect(await store.triggers.enable('t')).toMatchObject({ state: 'enabled', revision: 3 })
    expect(await deliveries()).toBe(1)
    expect(await store.triggers.delete('t')).toMatchObject({ state: 'deleted', revision: 4 })
    expect(await deliveries()).toBe(0)
    expect(await store.triggers.get('t')).toBeUndefined()
    for (const verb of ['disable', 'enable', 'delete'] as const) expect(await codeOf(store.triggers[verb]('t'))).toBe('TRIGGER_UNKNOWN')
    expect(await store.triggers.on('t', { ...asked, expect: 0 })).toMatchObject({ state: 'enabled', revision: 5 })
    expect(await store.triggers.get('t')).toMatchObject({ revision: 5 })
    expect(await statesOf(store, 't')).toHaveLength(2)
    expect(await complaintsOf(store)).toEqual([])
    await expectSound(store)
  })

  test('a delivery whose worker died is delivered again, and by its old holder no more', async () => {
    const { store, pass } = await engine.openInTime()
    await store.triggers.on('t', { source: 'stripe', queue: 'billing', attempts: 3 })
    await store.triggers.fire('stripe', paid, { key: 'evt_1' })
    const billing = store.queue<Delivered<Paid>>('billing')
    const old = await billing.claim({ lease: '10s' })
    expect(await statesOf(store, 't')).toEqual([['evt_1', 'delivering']])
    await pass(11_000)
    const fresh = await billing.claim()
    expect(fresh).toMatchObject({ id: old?.id, attempt: 2, payload: { payload: paid } })
    expect(await codeOf(Promise.resolve(old?.complete()))).toBe('FENCE_LOST')
    expect((await store.triggers.history()).items).toMatchObject([{ deliveries: [{ state: 'delivering', attempt: 2 }] }])
    await fresh?.complete()
    expect(await statesOf(store, 't')).toEqual([['evt_1', 'delivered']])
    await expectSound(store)
  })

  test('the history of triggers says what became of each delivery: back in the queue, dead with the reason, redriven, cancelled', async () => {
    const { store, pass } = await engine.openInTime()
    await store.triggers.on('t', { source: 'stripe', queue: 'billing', attempts: 2, backoff: '1s', delay: '5m' })
    const billing = store.queue<Delivered<Paid>>('billing')
    const { deliveries, firing } = await store.triggers.fire('stripe', paid, { key: 'evt_1' })
    const now = async () => (await store.triggers.firing(firing))?.deliveries[0]
    expect(await billing.tryClaim()).toMatchObject({ why: 'notDue' })
    await pass(301_000)
    await (await billing.claim())?.fail(new TypeError('not yet'))
    expect(await now()).toMatchObject({ state: 'reserved', attempt: 1, error: { message: 'not yet' } })
    await pass(1100)
    await (await billing.claim())?.fail(new TypeError('never'))
    expect(await now()).toMatchObject({ state: 'dead', attempt: 2, error: { name: 'TypeError', message: 'never' } })
    await billing.redrive()
    expect(await now()).toMatchObject({ state: 'reserved' })
    for (const attempt of [1, 2]) {
      expect(await billing.claim({ lease: '10s' })).toMatchObject({ attempt })
      await pass(11_000)
    }
    expect(await billing.claim()).toBeUndefined()
    expect(await now()).toMatchObject({ state: 'dead', attempt: 2, error: { name: 'Poisoned' } })
    await billing.redrive()
    {
      await using claim = await billing.claim()
      expect(await now()).toMatchObject({ state: 'delivering', attempt: claim?.attempt })
    }
    expect(await now()).toMatchObject({ state: 'reserved' })
    await billing.cancel(deliveries[0]?.item ?? '')
    expect(await now()).toMatchObject({ state: 'cancelled', item: deliveries[0]?.item })
    expect(await store.triggers.firing(firing)).toMatchObject({ id: firing, source: 'stripe', key: 'evt_1', payload: paid })
    await expectSound(store)
  })

  test('a worker delivers what fires while it works', async () => {
    const store = await engine.open()
    await store.triggers.on('a', { source: 'stripe', queue: 'billing' })
    await store.triggers.on('b', { source: 'stripe', queue: 'billing' })
    const seen: string[] = []
    await using worker = store.queue<Delivered<Paid>>('billing').work(({ payload: { trigger, payload } }) => {
      seen.push(`${trigger}/${payload.amount}`)
    })
    for (let amount = 0; amount < 10; amount++) await store.triggers.fire('stripe', { ...paid, amount }, { key: `evt_${amount}` })
    await expect.poll(() => worker.stats().completed).toBe(20)
    expect(new Set(seen).size).toBe(20)
    const { items } = await store.triggers.history({ source: 'stripe', last: 4 })
    expect(items.map(({ key, deliveries }) => [key, ...deliveries.map(({ trigger, state }) => `${trigger} ${state}`)])).toEqual(
      [9, 8, 7, 6].map((amount) => [`evt_${amount}`, 'a delivered', 'b delivered']),
    )
    await worker.close()
    await expectSound(store)
  })

  test('lists of triggers are bounded, go on by a cursor, and tell by source and state', async () => {
    const store = await engine.open()
    for (const name of ['a', 'b', 'c', 'd']) await store.triggers.on(name, { source: name === 'd' ? 'github' : 'stripe', queue: 'q' })
    await store.triggers.disable('b')
    await store.triggers.delete('c')
    const names = async (options: Parameters<Store['triggers']['list']>[0]) =>
      (await store.triggers.list(options)).items.map(({ name }) => name)
    expect(await names({})).toEqual(['d', 'c', 'b', 'a'])
    expect(await names({ state: 'enabled' })).toEqual(['d', 'a'])
    expect(await names({ source: 'stripe' })).toEqual(['a', 'b', 'c'])
    expect(await names({ source: 'stripe', state: 'disabled' })).toEqual(['b'])
    const page = await store.triggers.list({ last: 3 })
    expect(await names({ last: 3, ...(page.cursor !== undefined && { cursor: page.cursor }) })).toEqual(['a'])
    for (let i = 0; i < 5; i++) await store.triggers.fire('stripe', i, { key: `evt_${i}` })
    const keys: unknown[] = []
    for (let cursor: string | undefined, more = true; more; ) {
      const { items, cursor: next } = await store.triggers.history({ trigger: 'a', last: 2, ...(cursor !== undefined && { cursor }) })
      keys.push(...items.map(({ key }) => key))
      cursor = next
      more = next !== undefined
    }
    expect(keys).toEqual(['evt_4', 'evt_3', 'evt_2', 'evt_1', 'evt_0'])
  })

  test('a large payload lies in a blob once, however many are told of it, and small ones in no item', async () => {
    const store = await engine.open()
    for (const name of ['a', 'b', 'c']) await store.triggers.on(name, { source: 'stripe', queue: name })
    const [small, large] = [{ text: 'x'.repeat(20_000) }, { text: 'x'.repeat(limits.inlineBytes), more: [1] }]
    for (const payload of [small, large]) await store.triggers.fire('stripe', payload, { key: String(payload.text.length) })
    // Written in another order it is the same.
    expect((await store.triggers.fire('stripe', { more: [1], text: large.text }, { key: String(large.text.length) })).repeated).toBe(true)
    for (const name of ['a', 'b', 'c'])
      for (const payload of [small, large]) {
        const claim = await store.queue<Delivered>(name).claim()
        expect(claim?.payload.payload).toEqual(payload)
        await claim?.complete()
      }
    const { items } = await store.page()
    expect(items.filter(({ data }) => JSON.stringify(data).length > 10_000)).toHaveLength(1)
    await expectSound(store)
  })

  test('a secret is masked before it is matched, on both sides alike', async () => {
    const store = await engine.open()
    const password = 'correct-horse-battery-9'
    await store.triggers.on('same', { source: 'login', match: { password }, queue: 'a' })
    await store.triggers.on('test', { source: 'login', match: { password: { in: ['x', password] } }, queue: 'b' })
    const { deliveries } = await store.triggers.fire('login', { user: 'ada', password })
    expect(deliveries.map(({ trigger }) => trigger)).toEqual(['same', 'test'])
    expect((await store.queue<Delivered<{ password: string }>>('a').claim())?.payload.payload.password).not.toBe(password)
    for await (const event of store.events()) expect(JSON.stringify(event)).not.toContain(password)
    expect((await store.triggers.fire('login', { user: 'ada', password: 'another-horse-battery-9' })).deliveries).toEqual([])
  })

  test('tenants have triggers, sources and keys of their own', async () => {
    const store = await engine.open()
    const [acme, globex] = [store.tenant('acme'), store.tenant('globex')]
    await acme.triggers.on('t', { source: 'stripe', queue: 'billing' })
    expect(await globex.triggers.fire('stripe', paid, { key: 'evt_1' })).toMatchObject({ repeated: false, deliveries: [] })
    expect(await globex.triggers.get('t')).toBeUndefined()
    expect(await codeOf(globex.triggers.history({ trigger: 't' }))).toBe('TRIGGER_UNKNOWN')
    expect(await acme.triggers.fire('stripe', { ...paid, amount: 1 }, { key: 'evt_1' })).toMatchObject({
      repeated: false,
      deliveries: [{}],
    })
    expect(await globex.queue('billing').claim()).toBeUndefined()
    expect((await globex.triggers.history()).items).toHaveLength(1)
    expect((await acme.queue<Delivered<Paid>>('billing').claim())?.payload.payload.amount).toBe(1)
    await expectSound(store)
  })
})
