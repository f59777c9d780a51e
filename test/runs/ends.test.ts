// However a run ends in the hands of a node, its session is free for the next one.

import { describe, expect, test } from 'vitest'
import { open, type Run } from '../../src/index.ts'
import { codeOf, engines, expectSound, later } from '../support/engines.ts'

const both = engines.filter(({ name }) => name === 'sqlite' || name === 'postgres')

const unshowable: Readonly<Record<string, () => unknown>> = {
  'a pair cut in two': () => new Error(`${'x'.repeat(3999)}😀`),
  'members that fail when asked for': () => ({
    get message() {
      throw new Error('no')
    },
    get retryable() {
      throw new Error('no')
    },
  }),
  'a proxy that was revoked': () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  },
  'a proxy that answers nothing': () =>
    new Proxy(
      {},
      {
        get: () => {
          throw new Error('no')
        },
      },
    ),
}

describe.each(both)('on $name', (engine) => {
  test('a run that is cancelled by the process that works on it holds nothing any more', async () => {
    const store = await engine.open()
    const began = Promise.withResolvers<void>()
    await using node = store.work({
      long: (run: Run) =>
        run.effect('long', ({ signal }) => {
          began.resolve()
          return new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason as Error)))
        }),
      next: (run: Run) => run.effect('next', () => 'next'),
    })
    const long = await store.start('long', { session: 's' })
    await began.promise
    await long.cancel('not needed any more')
    expect(await codeOf(long.result())).toBe('RUN_CANCELLED')
    expect(await (await store.start('next', { session: 's' })).result()).toBe('next')
    await node.close()
    await expectSound(store)
  })

  test.each(Object.keys(unshowable))('a run that failed with an error that cannot be shown (%s) has failed', async (kind) => {
    const store = await engine.open()
    const thrown = unshowable[kind] as () => unknown
    await using node = store.work({
      throws: () => {
        throw thrown()
      },
      effect: (run: Run) =>
        run.effect(
          'e',
          () => {
            throw thrown()
          },
          { retry: { attempts: 2, backoff: 1 } },
        ),
      next: () => 'next',
    })
    for (const name of ['throws', 'effect']) {
      const handle = await store.start(name, { session: 's' })
      expect(await codeOf(handle.result())).toBe('RUN_FAILED')
      expect(await store.runs.get(handle.id)).toMatchObject({ state: 'failed', attempt: 1 })
      expect(await (await store.start('next', { session: 's', key: name })).result()).toBe('next')
    }
    await node.close()
    await expectSound(store)
  })

  test('a run that is let go by its handler takes nothing from another run of the session', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const mine = Promise.withResolvers<Run>()
    await using node = store.work({
      r: async (run: Run) => {
        mine.resolve(await session.run('mine'))
        await run.close()
      },
    })
    await store.start('r', { session: 's' })
    const run = await mine.promise
    await node.close()
    expect(await run.effect('still ours', () => 1)).toBe(1)
    await run.finish()
    await expectSound(store)
  })

  test('minus zero is zero from the beginning, not only under replay', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('r')
    expect(Object.is(await run.effect('zero', () => -0), 0)).toBe(true)
    await run.finish()
  })

  test('a start with invalid options is refused before its session is created', async () => {
    const store = await engine.open()
    const { seq } = await store.head()
    expect(await codeOf(store.start('r', { session: 'new', input: { a: [undefined] } }))).toBe('DATA_INVALID')
    expect(await codeOf(store.start('r', { session: 'new', delay: -1 }))).toBe('DURATION_INVALID')
    expect(await codeOf(store.start('r', { session: 'new', key: '' }))).toBe('KEY_INVALID')
    expect((await store.head()).seq).toBe(seq)
    const handle = await store.start('r', { session: 'new' })
    expect(await codeOf(handle.result(null as unknown as object))).toBe('OPTION_INVALID')
  })
})

test('a signal wakes a run behind a thousand others that wait in its session', async () => {
  const store = await open(':memory:')
  later(() => store.close())
  const last = 1005
  await using node = store.work({ r: (run: Run, n: number) => run.signal(`go ${n}`, { within: '1h' }) }, { concurrency: 2 })
  const start = (input: number) => store.start('r', { session: 's', parallel: true, input })
  const handles = await Promise.all(Array.from({ length: last + 1 }, (_, n) => start(n)))
  await expect.poll(() => node.stats().parked, { timeout: 240_000, interval: 200 }).toBe(last + 1)
  await store.signal('s', `go ${last}`, 'gone')
  expect(await handles[last]?.result()).toBe('gone')
})
