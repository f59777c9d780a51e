// Events that a branch appends before it loses a race: they stay, replay counts them as asked for, and every other event is still asked for.

import { describe, expect, test } from 'vitest'
import type { Run, Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'
import { shared } from './in-memory.ts'

const both = engines.filter(({ name }) => name === 'sqlite' || name === 'postgres')

async function notesOf(store: Store): Promise<readonly unknown[]> {
  const found: unknown[] = []
  for await (const { data } of store.events({ types: ['note.made'] })) found.push((data as { by: unknown }).by)
  return found
}

/** One branch makes notes and loses. `made` resolves once it has made them. */
const raced = async (run: Run, made?: PromiseWithResolvers<void>) =>
  run.race({
    slow: async (branch) => {
      await branch.append('note.made', { by: 'the branch' })
      await branch.append('note.made', { by: 'the branch again' })
      await branch.all({ inner: (inner) => inner.append('note.made', { by: 'a branch of the branch' }) })
      await run.append('note.made', { by: 'the branch, through the run' })
      made?.resolve()
      await branch.sleep('1h')
    },
    quick: async (branch) => {
      await made?.promise
      return branch.effect('quick', () => 'quick')
    },
  })

const LOST = ['the branch', 'the branch again', 'a branch of the branch', 'the branch, through the run']

describe.each(both)('on $name', (engine) => {
  test('events of a branch that lost a race stay after a crash, and take nothing from those that follow', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const first = await session.run('r')
    await first.append('note.made', { by: 'the run before' })
    expect(await raced(first, Promise.withResolvers())).toBe('quick')
    await first.close()
    for (const calls of [1, 0]) {
      const run = await session.run('r')
      let called = 0
      await run.append('note.made', { by: 'the run before' })
      expect(await raced(run)).toBe('quick')
      await run.append('note.made', { by: 'the run after' })
      await run.effect('next', () => void called++)
      expect(called).toBe(calls)
      expect(await notesOf(store)).toEqual(['the run before', ...LOST, 'the run after'])
      if (calls === 0) await run.finish()
      else await run.close()
    }
    await expectSound(store)
  })

  test('a program that drops an event behind a lost race is stopped before it does anything else', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const first = await session.run('r')
    await raced(first, Promise.withResolvers())
    await first.append('note.made', { by: 'the run after' })
    await first.close()
    const changed = await session.run('r')
    await raced(changed)
    let called = 0
    expect(await codeOf(changed.effect('another', () => void called++))).toBe('REPLAY_DIVERGED')
    expect(called).toBe(0)
    await changed.close()
    // The program as it was goes on.
    const second = await session.run('r')
    await raced(second)
    await second.append('note.made', { by: 'the run after' })
    await second.finish()
    expect(await notesOf(store)).toEqual([...LOST, 'the run after'])
    await expectSound(store)
  })

  test('a branch that has lost a race appends nothing more, through whichever handle', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const program = async (run: Run) => {
      const over = Promise.withResolvers<void>()
      const tried = Promise.withResolvers<void>()
      await run.race({
        slow: async (branch) => {
          await over.promise
          void run.append('note.made', { by: 'the branch, through the run' })
          void branch.append('note.made', { by: 'the branch' })
          tried.resolve()
        },
        quick: (branch) => branch.effect('quick', () => 1),
      })
      over.resolve()
      return tried.promise
    }
    const first = await session.run('r')
    await program(first)
    // What is asked for after the branch asked is written after it as well.
    await first.append('note.made', { by: 'the run' })
    expect(await notesOf(store)).toEqual(['the run'])
    await first.finish()
    await expectSound(store)
  })
})

test('an event that a branch asks for while its loss is written is not appended', async () => {
  const [deciding, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const slow = (backend: Backend): Backend => ({
    ...backend,
    commit: async (batch) => {
      if (batch.some(({ events }) => events.some(({ type }) => type === 'race.won'))) {
        deciding.resolve()
        await go.promise
      }
      return backend.commit(batch)
    },
  })
  const store = await shared()({}, slow)
  const session = await store.session('s')
  const first = await session.run('r')
  const asked = Promise.withResolvers<void>()
  const racing = first.race({
    slow: async (branch) => {
      await branch.append('note.made', { by: 'in time' })
      asked.resolve()
      await deciding.promise
      void branch.append('note.made', { by: 'too late' })
      go.resolve()
      await branch.sleep('1h')
    },
    quick: async (branch) => {
      await asked.promise
      return branch.effect('quick', () => 1)
    },
  })
  await racing
  await first.append('note.made', { by: 'the run' })
  expect(await notesOf(store)).toEqual(['in time', 'the run'])
  await first.close()
  const second = await session.run('r')
  await second.race({ slow: () => expect.unreachable(), quick: (branch) => branch.effect('quick', () => 2) })
  await second.append('note.made', { by: 'the run' })
  await second.finish()
  expect(await notesOf(store)).toEqual(['in time', 'the run'])
  await expectSound(store)
})
