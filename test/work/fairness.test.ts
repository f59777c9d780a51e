// Many tenants, one node: whoever has much to do keeps nobody waiting who has little.

import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Store } from '../../src/index.ts'
import { makePlace } from '../runs/crashing-backend.ts'
import { expectSound, later, layouts, openIn } from '../support/engines.ts'

const BUSY = 60
const small = ['ada', 'ben', 'cleo']

/** Who was served, in which order. */
const served = () => {
  const order: string[] = []
  const isOver = () => small.every((name) => order.includes(name))
  /** How many of the busy one came before everybody who has little was served. */
  const ahead = () => order.slice(0, Math.max(...small.map((name) => order.indexOf(name)))).filter((name) => name === 'busy').length
  return { order, isOver, ahead }
}

const ours = layouts.filter(({ name }) => name !== 'sqlite')

describe.each(ours)('on $name', (engine) => {
  // Where what was read ahead is read again between two items, and where it is not.
  test.each([0, 220])('a queue with a long backlog comes in turn with the others, when a handler takes %i ms', async (ms) => {
    const store = await engine.open()
    await fill(store, async (tenant) => void (await tenant.queue('q').offer(1)))
    const { order, isOver, ahead } = served()
    await using worker = store.queue('q').work(
      async ({ tenant }) => {
        order.push(tenant)
        await wait(ms)
      },
      { tenants: 'all', concurrency: 1, drain: 0 },
    )
    await expect.poll(isOver).toBe(true)
    // Where handlers are quick several of one tenant come together.
    expect(ahead()).toBeLessThan(ms > 0 ? 3 : BUSY)
    await worker.close()
    await expectSound(store)
  })

  test('runs of one tenant that has many come in turn with those of others', async () => {
    const store = await engine.open()
    await fill(store, async (tenant, i) => void (await tenant.start('answer', { session: `s${i}` })))
    const { order, isOver, ahead } = served()
    await using node = store.work({ answer: async ({ tenant }) => void order.push(tenant) }, { concurrency: 1 })
    await expect.poll(isOver).toBe(true)
    expect(ahead()).toBeLessThan(3)
    await node.close()
    await expectSound(store)
  })
})

describe.each(ours.filter(({ name }) => name !== 'memory'))('on $name', (engine) => {
  test('runs of one session follow each other at once', async () => {
    const store = await engine.open()
    // One after the other: each waits for the session, and nobody tells it but the end of the one before.
    for (let i = 0; i < 40; i++) await store.start('answer', { session: 's', key: `${i}` })
    let done = 0
    await using _ = store.work({ answer: () => void done++ })
    await expect.poll(() => done).toBe(40)
    await expectSound(store)
  })
})

describe('whoever has waited longest comes first', () => {
  test.each(['runs', 'items'])('the tenant that waited longest is served before new tenants: %s', async (what) => {
    const store = await openIn(':memory:')
    const order: string[] = []
    const serve = async (tenant: string) => {
      order.push(tenant)
      await wait(10)
    }
    const offer = async (tenant: string, key: string) =>
      what === 'runs' ? store.tenant(tenant).start('answer', { session: key }) : store.tenant(tenant).queue('q').offer(1)
    await using _ =
      what === 'runs'
        ? store.work({ answer: ({ tenant }) => serve(tenant) }, { concurrency: 1 })
        : store.queue('q').work(({ tenant }) => serve(tenant), { tenants: 'all', concurrency: 1, drain: 0 })
    await offer('old', 'first')
    await expect.poll(() => order).toEqual(['old'])
    for (let i = 0; i < 5; i++) await offer(`new${i}`, 's')
    await offer('old', 'second')
    // More of them than can be served, for as long as it takes.
    for (let i = 5; i < 300 && order.lastIndexOf('old') === 0; i++) {
      await offer(`new${i}`, 's')
      await wait(5)
    }
    expect(order.lastIndexOf('old')).toBeGreaterThan(0)
    expect(order.lastIndexOf('old')).toBeLessThan(30)
  })

  test.each([99, 100, 101])(
    'the tenant that waited longest is served first, also behind %i tenants whose work no node can take',
    async (many) => {
      const store = await openIn(':memory:')
      for (let i = 0; i < many; i++) {
        const tenant = store.tenant(`closed${i}`)
        const session = await tenant.session('s')
        await tenant.start('answer', { session: 's' })
        await session.archive()
      }
      await fill(store, async (tenant, i) => void (await tenant.start('answer', { session: `s${i}` })))
      const { order, isOver, ahead } = served()
      await using _ = store.work({ answer: async ({ tenant }) => void order.push(tenant) }, { concurrency: 1 })
      await expect.poll(isOver).toBe(true)
      expect(ahead()).toBeLessThan(10)
    },
  )
})

test('many due jobs of one tenant delay those of another by one page, and not by all', async () => {
  const { backend, open, pass } = await makePlace('sqlite')
  const whole = await backend()
  const order: string[] = []
  const store = await open({
    ...whole,
    commit: (batch) => {
      for (const { tenant, events } of batch) if (events.some(({ type }) => type === 'occurrence.opened')) order.push(tenant)
      return whole.commit(batch)
    },
  })
  later(() => store.close())
  const at = new Date(Date.now() + 3_600_000)
  for (let i = 0; i < 120; i++) await store.tenant('busy').cron.set(`job ${i}`, { at, queue: 'q' })
  await store.tenant('small').cron.set('job', { at, queue: 'q' })
  await pass(3_600_001)
  await expect.poll(() => order.length).toBe(121)
  expect(order.indexOf('small')).toBeLessThan(60)
})

/** The busy one comes first, so that all it has is older. */
async function fill(store: Store, offer: (tenant: Store, i: number) => Promise<void>): Promise<void> {
  const busy = store.tenant('busy')
  for (let i = 0; i < BUSY; i++) await offer(busy, i)
  for (const name of small) await offer(store.tenant(name), 0)
}
