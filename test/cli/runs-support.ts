// A store with a run in every state, for tests of `inkfast runs`.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { open, type Run, type Store, type StoreOptions } from '../../src/index.ts'

export type RunIds = Readonly<Record<'answer' | 'pay' | 'greet' | 'nap' | 'fails' | 'whole' | 'part' | 'nobody', string>>

/** Short, so that what was left behind is soon free. */
const lease = { ttl: '1s', renew: '300ms' } as const

/**
 * `answer` is done, `pay` waits for somebody to say how 'charge card' ended, `greet` for an approval, `nap` for a time, `whole` for its child
 * `part`, which waits for a signal; `fails` failed, and nobody has a handler for `nobody`.
 */
export async function storeWithRuns(options: StoreOptions, tenant = 'main'): Promise<RunIds> {
  const ids: Record<string, string> = {}
  const view = (store: Store) => (tenant === 'main' ? store : store.tenant(tenant))
  {
    await using store = await open({ ...options, logger: false, lease })
    const session = await view(store).session('support/4711', { title: 'Order 4711' })
    await using done = await session.run('answer', { input: { question: 'where is it?', password: 'hunter2-hunter2' }, parallel: true })
    ids.answer = done.id
    await answer(done)
    const pay = await session.run('pay', { input: { amount: 120 }, parallel: true })
    ids.pay = pay.id
    const begun = Promise.withResolvers<void>()
    // Begun, and the store is closed before anything came of it.
    const charge = () => {
      begun.resolve()
      return new Promise(() => {})
    }
    pay.effect('charge card', charge, { ifUnknown: 'ask' }).catch(() => {})
    await begun.promise
  }
  await using store = await open({ ...options, logger: false, lease })
  const own = view(store)
  const session = await own.session('support/4711')
  const pay = await session.run('pay', { wait: '10s' })
  pay.effect('charge card', () => 'never called', { ifUnknown: 'ask' }).catch(() => {})
  await using _ = own.work({
    greet: async (run) => run.approval('refund 120 EUR', { amount: 120 }, { within: '2d' }),
    nap: async (run) => run.sleep('3h'),
    fails: async () => {
      throw new Error('it broke')
    },
    whole: async (run) => (await run.child('part', { input: 3 })).result(),
    part: async (run) => run.signal('never'),
  })
  for (const name of ['greet', 'nap', 'fails', 'whole', 'nobody'])
    ids[name] = (await own.start(name, { session: `work/${name}`, input: { for: name }, key: `key of ${name}` })).id
  const settled = async () => {
    const { items } = await own.runs.list({ last: 100 })
    ids.part = items.find(({ name }) => name === 'part')?.id ?? ''
    const parked = await Promise.all(items.filter(({ state }) => state === 'waiting').map(({ id }) => own.runs.holder(id)))
    // All but `pay`, which this process holds while it waits.
    return items.filter(({ state }) => state === 'waiting').length === 5 && parked.filter((holder) => holder).length === 1
  }
  for (const until = Date.now() + 15_000; !(await settled()); ) {
    if (Date.now() > until) throw new Error('the runs did not come to rest')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await pay.close()
  return ids as RunIds
}

/** A little of everything a tape can hold. */
async function answer(run: Run): Promise<void> {
  await run.effect('find order', () => ({ id: 4711, items: ['lamp'], hostile: '\u001b]0;owned\u0007' }))
  let calls = 0
  const flaky = () => {
    if (++calls < 2) throw new Error('the server is away\nand more')
    return 'sent'
  }
  await run.effect('send', flaky, { retry: { attempts: 3, backoff: '5ms' } })
  await run.effect('look up', () => Promise.reject(Object.assign(new Error('no such address'), { retryable: false }))).catch(() => {})
  await run.all({ left: (r) => r.effect('x', () => 1), right: (r) => r.all({ deep: (q) => q.effect('x', () => 2) }) })
  await run.race({ quick: (r) => r.effect('x', () => 'quick'), slow: (r) => r.sleep('1h') })
  await run.usage({ model: 'example-large', source: 'turn', inputTokens: 812, outputTokens: 64, costUsd: 0.004 })
  await run.usage({ model: 'example-small', source: 'tool', inputTokens: 12, outputTokens: 4, cacheReadTokens: 100, costUsd: 0.0000123 })
  await run.append('plan.changed', { steps: 3 })
  await run.sleep(5)
  await run.finish({ reply: 'on its way' })
}

/** An id that is one, and no run's. */
export const UNKNOWN = '01K1Y2Z3A4B5C6D7E8F9G0H1J2'

export const digestOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

export async function inStore<T>(path: string, work: (store: Store) => Promise<T>): Promise<T> {
  await using store = await open(path)
  return await work(store)
}
