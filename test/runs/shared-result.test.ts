// One promise of a child's result, shared between the branches of a run: each of them gets the result, now and on replay.

import { describe, expect, test } from 'vitest'
import type { Branch, Event, Run, Store } from '../../src/index.ts'
import { engines, expectSound } from '../support/engines.ts'

const both = engines.filter(({ name }) => name === 'sqlite' || name === 'postgres')

async function eventsOf(store: Store, query: Parameters<Store['events']>[0]): Promise<readonly Event[]> {
  const found: Event[] = []
  for await (const event of store.events(query)) found.push(event)
  return found
}

describe.each(both)('on $name', (engine) => {
  test.each([
    ['a', 'b'],
    ['b', 'a'],
  ])('branches that share one promise of a result both get it, and replay finds it in both: first %s, then %s', async (...order) => {
    const store = await engine.open()
    const session = await store.session('s')
    /** The branches ask in this order, whichever was quicker before. */
    const program = async (run: Run, [first]: readonly string[]) => {
      const kid = await run.child('kid', { input: 7 })
      let shared: Promise<number> | undefined
      const asked = Promise.withResolvers<void>()
      const ask = async (branch: Branch, name: string) => {
        await branch.effect('before', () => name)
        if (name !== first) await asked.promise
        shared ??= kid.result<number>()
        asked.resolve()
        return [name, await shared, await branch.effect('after', () => name)]
      }
      return [...(await run.all({ a: (branch) => ask(branch, 'a'), b: (branch) => ask(branch, 'b') }))]
    }
    const expected = [
      ['a', 7, 'a'],
      ['b', 7, 'b'],
    ]
    const first = await session.run('r')
    program(first, order).catch(() => {})
    await expect.poll(async () => (await store.runs.get(first.id))?.waits.length).toBe(2)
    await first.close()
    const second = await session.run('r')
    const again = program(second, order.toReversed())
    await using node = store.work({ kid: (_: Run, n: number) => n })
    expect(await again).toEqual(expected)
    await second.close()
    const { seq } = await store.head()
    const third = await session.run('r')
    expect(await program(third, order)).toEqual(expected)
    // Replay found everything: nothing was written but who took the run up.
    const written = (await eventsOf(store, { run: third.id, after: seq })).map(({ type }) => type)
    expect(written.filter((type) => type.startsWith('wait.') || type.startsWith('effect.'))).toEqual([])
    await third.finish()
    await node.close()
    await expectSound(store)
  })

  test('branches that share one promise of a result are given back, and a lost race takes it from nobody else', async () => {
    const store = await engine.open()
    const held = Promise.withResolvers<void>()
    // One place: a parent that kept it while it waits would wait for ever.
    await using node = store.work(
      {
        kid: () => 'kid',
        slow: (run: Run) => run.effect('work', () => held.promise.then(() => 'slow')),
        parent: async (run: Run) => {
          const kid = await run.child('kid')
          const shared = kid.result()
          return [...(await run.all({ a: () => shared, b: () => shared })), await shared]
        },
      },
      { concurrency: 1 },
    )
    expect(await (await store.start('parent', { session: 's' })).result()).toEqual(['kid', 'kid', 'kid'])
    const run = await (await store.session('t')).run('r')
    const shared = (await run.child('slow')).result()
    const both = run.all({
      raced: async (branch) => {
        const won = await branch.race({ kid: () => shared, late: (late) => late.sleep(20).then(() => 'late') })
        held.resolve()
        return won
      },
      waits: () => shared,
    })
    expect([...(await both)]).toEqual(['late', 'slow'])
    await run.finish()
    await node.close()
    await expectSound(store)
  })
})
