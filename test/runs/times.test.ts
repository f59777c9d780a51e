// Any number of milliseconds is a time that the store can keep, or is refused before anything is written.

import { describe, expect, test } from 'vitest'
import { limits, type Run, type Store } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const YEARS = limits.durationMs

const waits = (ms: number): readonly (readonly [string, (store: Store, run: Run) => Promise<unknown>])[] => [
  ['run.sleep', (_, run) => run.sleep(ms)],
  ['run.signal within', (_, run) => run.signal('never', { within: ms })],
  ['run.ask within', (_, run) => run.ask('sure?', {}, { within: ms })],
  ['offer delay', (store) => store.queue('q').offer(1, { delay: ms })],
  ['claim lease', (store) => store.queue('q').claim({ lease: ms })],
  ['start delay', (store) => store.start('x', { session: 's', delay: ms })],
  ['approval within', (store) => store.approvals.request({ subject: 'pay', within: ms })],
  ['trigger delay', (store) => store.triggers.on('t', { source: 's', queue: 'q', delay: ms })],
]

describe.each(engines)('on $name', (engine) => {
  test('a duration beyond the range of Date is refused, and nothing is written', async () => {
    const store = await engine.open()
    const run = await (await store.session('s')).run('r')
    for (const ms of [Number.MAX_SAFE_INTEGER, 2 ** 53 + 10, 1e22, 1e300, YEARS + 1, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const { seq } = await store.head()
      for (const [name, wait] of waits(ms)) expect([name, ms, await codeOf(wait(store, run))]).toEqual([name, ms, 'DURATION_INVALID'])
      expect((await store.head()).seq).toBe(seq)
    }
    const { seq } = await store.head()
    for (const time of [2 ** 53, 8.64e15 + 1, Number.NaN, new Date(Number.NaN)])
      expect(await codeOf(run.until(time))).toBe('OPTION_INVALID')
    expect(await codeOf(run.effect('e', () => 1, { retry: { backoff: { first: '1s', factor: '2' as never } } }))).toBe('OPTION_INVALID')
    expect(await codeOf(run.effect('e', () => 1, { retry: { backoff: { first: '1s', factor: 101 } } }))).toBe('OPTION_INVALID')
    expect(await codeOf(run.effect('e', () => 1, { retry: { factor: 2 } as never }))).toBe('OPTION_INVALID')
    expect((await store.head()).seq).toBe(seq)
    await run.finish()
    await expectSound(store)
  })

  test('a part of a millisecond, and a thousand years, are taken', async () => {
    const store = await engine.open()
    await store.queue('q').offer(0)
    for (const ms of [1000 / 3, 20_000.7, YEARS]) {
      const run = await (await store.session('s')).run('r', { key: String(ms) })
      const taken = waits(ms).filter(([name]) => !name.startsWith('run.'))
      for (const [name, wait] of taken) expect([name, ms, await codeOf(wait(store, run))]).toEqual([name, ms, 'no error'])
      await store.triggers.fire('s', { ms })
      const sleeps = [...waits(ms).filter(([name]) => name.startsWith('run.')), ['until', () => run.until(Date.now() + ms)] as const]
      for (const [, wait] of sleeps) wait(store, run).catch(() => {})
      await expect.poll(async () => (await store.runs.get(run.id))?.waits.length).toBe(sleeps.length)
      await run.cancel('seen')
    }
    await store.queue('q').list()
    await expectSound(store)
  })

  test('a rest that does not come out even is kept all the same', async () => {
    const store = await engine.open()
    await using node = store.work({
      r: (run: Run) =>
        run.effect(
          'flaky',
          ({ attempt }) => {
            if (attempt < 3) throw new Error('not yet')
            return attempt
          },
          { retry: { attempts: 3, backoff: { first: 7.3, factor: 1.37 } } },
        ),
    })
    expect(await (await store.start('r', { session: 's' })).result()).toBe(3)
    await node.close()
    await expectSound(store)
  })
})
