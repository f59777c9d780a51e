// A store with queues, jobs, triggers and agent processes in every state, for tests of the commands that look at them and change them.

import { expect } from 'vitest'
import { open, type Store, type StoreOptions } from '../../src/index.ts'
import { digestOf } from './runs-support.ts'
import { inkHere } from './support.ts'

export interface WorkIds {
  readonly ready: string
  readonly delayed: string
  readonly held: string
  readonly dead: string
  readonly firing: string
  readonly crawl: string
}

/** Drives a terminal that is not careful, and must not reach one. */
export const HOSTILE = '\u001b]0;owned\u0007\u009b31m\u202e'
export const SECRET = 'hunter2-hunter2'

/**
 * Queue `outbox` has an item that is ready, one that is delayed and one that desk 3 holds; in `bad` one is dead. Job `digest` is paused and has
 * come up twice, `poll` waits for its hour, `launch` for its day. Trigger `mail` was told of one firing and failed, `audit` was told of two, `off` is
 * disabled and `gone` deleted. Process `crawl/4711` waits, `done` and `fails` have ended, `queued` was never started.
 */
export async function storeWithWork(options: StoreOptions, tenant = 'main'): Promise<WorkIds> {
  await using root = await open({ ...options, schedule: false, lease: { owner: 'desk 3' } })
  const store = (tenant === 'main' ? root : root.tenant(tenant)).as('user_ada')
  const items = await queues(store)
  await jobs(store)
  const firing = await triggers(store)
  const crawl = await processes(store)
  return { ...items, firing, crawl }
}

async function queues(store: Store): Promise<Pick<WorkIds, 'ready' | 'delayed' | 'held' | 'dead'>> {
  const outbox = store.queue('outbox')
  const held = await outbox.offer({ to: 'eve' }, { priority: 9 })
  await outbox.claim({ lease: '1h' })
  const ready = await outbox.offer({ to: 'ada', password: SECRET, hostile: HOSTILE })
  const delayed = await outbox.offer({ to: 'bob' }, { key: 'welcome/bob', delay: '2h', group: 'bob', priority: 5, attempts: 3 })
  const bad = store.queue('bad')
  const dead = await bad.offer({ order: 4711, lines: Array.from({ length: 20 }, (_, n) => ({ n, sku: `lamp ${n}` })) }, { attempts: 1 })
  const claim = await bad.claim()
  await claim?.fail(Object.assign(new Error(`no such mailbox ${HOSTILE}\nand more`), { details: { code: 550 } }))
  return { ready: ready.id, delayed: delayed.id, held: held.id, dead: dead.id }
}

async function jobs(store: Store): Promise<void> {
  const { cron } = store
  await cron.set('digest', {
    cron: '0 9 * * 1-5',
    zone: 'Europe/Paris',
    queue: 'digest',
    payload: { to: 'all', password: SECRET },
    overlap: 'queueOne',
    jitter: '30s',
  })
  await cron.set('poll', { every: '1h', from: 'finish', queue: 'poll', missed: 'all', pauseOnFailure: 3 })
  await cron.set('launch', { at: '2030-01-01T09:00:00Z', queue: 'launch' })
  await cron.run('digest')
  await (await store.queue('digest').claim())?.complete()
  await cron.run('digest')
  await (await store.queue('digest').claim())?.fail(new Error('the printer is out of ink'), { final: true })
  await cron.pause('digest', { reason: `holidays ${HOSTILE}` })
}

async function triggers(store: Store): Promise<string> {
  await store.triggers.on('mail', { source: 'orders', queue: 'mail', match: { state: 'paid' }, attempts: 1 })
  await store.triggers.on('audit', { source: 'orders', queue: 'audit', delay: '5m', with: { to: 'ledger' } })
  for (const name of ['off', 'gone']) await store.triggers.on(name, { source: 'orders', queue: 'audit' })
  await store.triggers.disable('off')
  await store.triggers.delete('gone')
  const { firing } = await store.triggers.fire('orders', { order: 1, state: 'paid', password: SECRET }, { key: 'order/1/paid' })
  await (await store.queue('mail').claim())?.fail(new Error('smtp said no'))
  await store.triggers.fire('orders', { order: 2, state: 'open', hostile: HOSTILE })
  await store.triggers.fire('returns', { order: 2 })
  return firing
}

async function processes(store: Store): Promise<string> {
  const session = await store.session('support/4711')
  const crawl = await store.processes.register('crawl/4711', {
    kind: 'crawl',
    recovery: 'external',
    label: 'the crawl',
    wake: session.id,
    input: { url: 'https://example.com', password: SECRET },
    events: { 'page.found': { wake: true }, 'crawl.noted': {} },
    provenance: { session: session.id, by: 'user_ada' },
  })
  await crawl.start()
  await crawl.event('page.found', { page: 1, hostile: HOSTILE })
  for (const page of [2, 3]) await crawl.event('crawl.noted', { page })
  await crawl.refer({ backend: 'elsewhere', id: 'job-91' })
  await crawl.wait('approval', { id: 7 })
  await store.processes.grant('crawl/4711', session.id, { label: 'my crawl' })
  const tool = async (name: string) => {
    const process = await store.processes.register(name, { kind: 'tool', recovery: 'ownerBound' })
    await process.start()
    return process
  }
  await (await tool('done')).complete({ found: 3 }, { control: { next: 'mail' } })
  await (await tool('fails')).fail(new Error('it broke'))
  await store.processes.register('queued', { kind: 'tool', recovery: 'rerunnable' })
  return crawl.id
}

/** It ends with this number and with one line that says so, and nothing is written. */
export async function expectRefused(path: string, words: readonly string[], exit: number, said: string): Promise<void> {
  const before = digestOf(path)
  const { code, out, err } = await inkHere(words)
  expect([code, out]).toEqual([exit, ''])
  expect(err).toMatch(/^inkfast: .*\n$/)
  expect(err).toContain(said)
  expect(digestOf(path)).toBe(before)
}
