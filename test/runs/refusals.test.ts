// What a program is refused, and what it may do after that: it may catch it and go on, and replay must come the same way again; where it could
// not, there is no way on.

import { expect, test } from 'vitest'
import type { Run } from '../../src/index.ts'
import { codeOf } from '../support/engines.ts'
import { inMemory, session, shared } from './in-memory.ts'

const REFUSED: Readonly<Record<string, (run: Run) => Promise<unknown>>> = {
  'an event of a reserved type': (run) => run.append('run.finished', {}),
  'an event that is no JSON': (run) => run.append('plan.changed', { n: 10n }),
  'an event that is too large': (run) => run.append('plan.changed', 'x'.repeat(300_000)),
  'usage whose sum is too large': async (run) => {
    await run.usage({ model: 'm', inputTokens: Number.MAX_SAFE_INTEGER })
    await run.usage({ model: 'm', inputTokens: 1 })
  },
  'no attempt at all': (run) => run.effect('e', () => 1, { retry: { attempts: 0 } }),
  'a backoff that is no duration': (run) => run.effect('e', () => 1, { retry: { backoff: 'soon' as never } }),
  'a result that is no JSON': (run) => run.effect('e', () => 10n as never),
  'a result that is no JSON, settled by hand': async (run) => {
    const half = await run.begin('e')
    if (!half.done) await half.settle(10n)
  },
  'a question that is no JSON': (run) => run.ask('how many?', { n: 10n }),
  'an input that is no JSON': (run) => run.child('kid', { input: 10n }),
  'a branch by a name that is none': (run) => run.all({ 'a/b': (r) => r.effect('e', () => 1) }),
}

test('a program that is refused something and goes on is refused it again under replay', async () => {
  const store = await inMemory()
  const wrong = await Promise.all(
    Object.entries(REFUSED).map(async ([why, refused]) => {
      const mine = await store.session(why)
      const program = async (run: Run) => [await codeOf(refused(run)), await codeOf(run.effect('after', () => 1))]
      const run = await mine.run('r')
      const told = await program(run)
      await run.close()
      const again = await program(await mine.run('r'))
      const refusal = /^[A-Z_]+$/.test(told[0] ?? '') ? [] : [`${why}: ${told[0]}`]
      return [...refusal, ...(again.join() === told.join() ? [] : [`${why}: ${told}, then ${again}`])]
    }),
  )
  expect(wrong.flat()).toEqual([])
})

test('a program that has changed gets no further by catching what it is told', async () => {
  const store = await inMemory()
  const first = await (await session(store)).run('r')
  await first.effect('one', () => 1)
  await first.effect('two', () => 2)
  await first.close()
  const run = await (await session(store)).run('r')
  const { seq } = await store.head()
  expect(await codeOf(run.effect('other', () => 1))).toBe('REPLAY_DIVERGED')
  const rest = [run.effect('one', () => 1), run.effect('two', () => 2)]
  expect(await Promise.all(rest.map(codeOf))).toEqual(['REPLAY_DIVERGED', 'REPLAY_DIVERGED'])
  expect(await codeOf(run.effect('three', () => 3))).toBe('REPLAY_DIVERGED')
  expect(await codeOf(run.finish())).toBe('REPLAY_DIVERGED')
  expect((await store.head()).seq).toBe(seq)
})

test('a program whose child could not be started because the store was away starts it the next time', async () => {
  const another = shared()
  let broken = 0
  const store = await another({}, (backend) => ({
    ...backend,
    commit: async (batch) => {
      if (broken > 0 && batch.some(({ events }) => events.some(({ type }) => type === 'work.offered')) && broken-- > 0)
        throw new Error('the network is away')
      return backend.commit(batch)
    },
  }))
  const run = await (await session(store)).run('r')
  broken = 3
  expect(await codeOf(run.child('kid'))).toBe('OUTCOME_UNKNOWN')
  await run.close()
  broken = 0
  const again = await (await session(store)).run('r')
  expect((await store.runs.get((await again.child('kid')).id))?.state).toBe('pending')
  expect((await store.runs.list({ name: 'kid' })).items).toHaveLength(1)
})
