// The write budget counts the whole time of a write: masking and hashing too, and not only the store.

import { describe, expect, test } from 'vitest'
import { open } from '../src/index.ts'
import { codeOf, engines } from './support/engines.ts'

/** A clock that stands still unless a step of a write takes time. */
function slowClock() {
  let time = 0
  const hashing = { ms: 0 }
  return {
    /** Every event is stamped while it is hashed. */
    hashing,
    clock: {
      now: () => {
        time += hashing.ms
        return 1_700_000_000_000
      },
      monotonic: () => time,
    },
    /** Data that takes this long to be checked and masked. */
    slowData: (ms: number) => ({
      get text() {
        time += ms
        return 'x'
      },
    }),
  }
}

describe.each(engines)('the write budget ($name)', (engine) => {
  test('a breach counts masking and hashing, and the parts of a write add up to the whole', async () => {
    const { clock, hashing, slowData } = slowClock()
    const lines: unknown[] = []
    const logger = { info: (_: string, details?: object) => void lines.push(details) }
    const store = await engine.open({ clock, logger, writeBudget: '20ms' })
    const session = await store.session('s')
    expect(store.stats().budget).toEqual({ ms: 20, breaches: 0, lastMinute: { writes: 1, breaches: 0 } })

    await session.append('a.b', slowData(20))
    expect(store.stats().budget.breaches).toBe(0)
    await session.append('a.b', slowData(300))
    expect(store.stats().budget).toMatchObject({ breaches: 1, lastBreach: { ms: 300, mask: 300, hash: 0, wait: 0, disk: 0 } })
    expect(lines).toEqual([{ ms: 300, mask: 300, hash: 0, wait: 0, disk: 0, budgetMs: 20, breaches: 1 }])
    await store.appendAll([{ type: 'a.b', data: slowData(200) }])
    await session.append('a.b', slowData(250), { redact: false, key: 'k' })
    expect(store.stats().budget).toMatchObject({ breaches: 3, lastBreach: { mask: 250 } })

    hashing.ms = 40
    await session.rename('slowly')
    const { ms = 0, mask = 0, hash = 0, wait = 0, disk = 0 } = store.stats().budget.lastBreach ?? {}
    expect(hash).toBeGreaterThanOrEqual(40)
    expect(mask + hash + wait + disk).toBe(ms)

    const { latency, latencyOf, commits } = store.stats()
    expect([latency.max, latencyOf.mask.max]).toEqual([300, 300])
    expect(Object.values(latencyOf).map(({ count }) => count)).toEqual([commits, commits, commits, commits])
  })
})

describe.each(engines)('the write budget of offers and runs ($name)', (engine) => {
  test('masking what is offered, sent or returned counts in the write that stores it', async () => {
    const { clock, slowData } = slowClock()
    const store = await engine.open({ clock, writeBudget: '20ms', schedule: false })
    const session = await store.session('s')
    const run = await session.run('r')
    const slow = () => slowData(300) as unknown
    const writes: Readonly<Record<string, () => Promise<unknown>>> = {
      effect: () => run.effect('look', slow),
      finish: () => run.finish(slow()),
      offer: () => store.queue('q').offer(slow()),
      'offer with a key': () => store.queue('q').offer(slow(), { key: 'k' }),
      input: () => session.input(slow()),
      inbox: () => session.inbox.offer(slow(), { kind: 'turn', delivery: 'boundary' }),
      signal: () => store.signal('s', 'go', slow()),
      start: () => store.start('other', { session: 's', input: slow() }),
    }
    for (const [name, write] of Object.entries(writes)) {
      const { breaches } = store.stats().budget
      await write()
      const { budget } = store.stats()
      expect([name, budget.breaches - breaches, budget.lastBreach?.mask]).toEqual([name, 1, 300])
    }
  })
})

describe.each(engines)('the write budget of values ($name)', (engine) => {
  test('encoding and hashing a value count as hashing, in its own write and in that of state', async () => {
    let ticks = 0
    // Every reading takes a second, so a part that was measured took at least one.
    const clock = { now: () => 1_700_000_000_000, monotonic: () => 1000 * ticks++ }
    const store = await engine.open({ clock, writeBudget: '1s' })
    for (const write of [
      () => store.values.put(['x'.repeat(200)]),
      () => store.state.set('k', ['y'.repeat(2000)]),
      async () => store.values.append(await store.values.put(['z'.repeat(200)]), ['more']),
    ]) {
      await write()
      const { ms = 0, mask = 0, hash = 0, wait = 0, disk = 0 } = store.stats().budget.lastBreach ?? {}
      expect(hash).toBeGreaterThanOrEqual(1000)
      expect(mask + hash + wait + disk).toBe(ms)
    }
  })
})

test('writeBudget takes a duration of at least a millisecond', async () => {
  for (const writeBudget of ['50ms', '1s', 5] as const) await (await open({ url: ':memory:', writeBudget })).close()
  for (const writeBudget of [0, '0ms', '0.2ms'] as const)
    expect(await codeOf(open({ url: ':memory:', writeBudget }))).toBe('OPTION_INVALID')
  for (const writeBudget of [-1, 'soon', null, Number.NaN])
    expect(await codeOf(open({ url: ':memory:', writeBudget: writeBudget as never }))).toBe('DURATION_INVALID')
})
