// Several who speak, take back and end at once; and how much one run can be told.

import { describe, expect, test } from 'vitest'
import { limits, type Session, type Store } from '../../src/index.ts'
import { shared } from '../runs/in-memory.ts'
import { codeOf, expectSound, lentDatabase, openIn, tempFile } from '../support/engines.ts'

const statesOf = async (session: Session): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries((await session.inputs.list({ first: 1000 })).items.map(({ content, state }) => [String(content), state]))

test('a run is told so much and no more, and what is beyond one entry comes with the next asking', async () => {
  const store = await shared()()
  const session = await store.session('s')
  const run = await session.run('turn')
  for (let i = 0; i < 70; i++) await session.input(i)
  expect(await run.inputs()).toHaveLength(limits.takenAtOnce)
  expect(await run.inputs()).toHaveLength(70 - limits.takenAtOnce)
  const large = 'x'.repeat(30_000)
  for (let i = 0; i < 6; i++) await session.input(large)
  expect(await run.inputs()).toHaveLength(4)
  expect(await run.inputs()).toHaveLength(2)
  for (let i = 76; i < limits.runInputs; i++) await session.input(i)
  expect(await codeOf(session.input('one too many'))).toBe('INPUTS_FULL')
  expect(await session.input('for the next', { turn: 'next' })).toMatchObject({ state: 'deferred' })
  expect(await run.inputs({ from: 'next' })).toEqual([])
  // All of it is settled in the commit that ends the run.
  await run.fail(new Error('no'))
  expect((await session.inputs.list({ state: 'deferred', last: 1000 })).items).toHaveLength(1000)
  expect((await session.inputs.list({ state: 'accepted' })).items).toEqual([])
  await expectSound(store)
}, 60_000)

describe.each(['sqlite', 'postgres'] as const)('two handles on %s', (name) => {
  const both = async (): Promise<readonly [Store, Store]> => {
    const url = name === 'postgres' ? await lentDatabase() : tempFile()
    return [await openIn(url), await openIn(url)]
  }

  test('two handles that say the same under one key have said it once', async () => {
    const [one, two] = await both()
    const sessions = [await one.session('s'), await two.session('s')] as const
    const run = await sessions[0].run('turn')
    for (let round = 0; round < 10; round++) {
      const said = await Promise.all(sessions.map((session) => session.input({ round }, { key: `m-${round}` })))
      expect(new Set(said.map(({ id }) => id)).size).toBe(1)
      expect(said.map(({ repeated }) => repeated).toSorted()).toEqual([false, true])
    }
    expect(await run.inputs()).toHaveLength(10)
    expect(run.toJSON().prompted).toBe(10)
    await run.finish()
    await expectSound(one)
  })

  test('two handles of which one ends the turn and one speaks to it lose nothing: it is heard, or left to the next turn', async () => {
    const [one, two] = await both()
    const [mine, yours] = [await one.session('s'), await two.session('s')]
    for (let round = 0; round < 15; round++) {
      const run = await mine.run('turn', { key: String(round) })
      const speak = async () => {
        for (let i = 0; i < 4; i++) await yours.input(`${round}/${i}`)
      }
      const ways = [() => run.finish(), () => run.fail(new Error('no')), () => two.runs.cancel(run.id, 'no')]
      await Promise.all([speak(), run.inputs().then(ways[round % 3])])
    }
    expect(await unheard(one, mine)).toEqual([])
    const states = Object.values(await statesOf(mine))
    expect(states).toHaveLength(60)
    expect(new Set(states)).not.toContain('pending')
    expect(new Set(states)).not.toContain('accepted')
    await expectSound(one)
  })

  test('two handles of which one takes back and one hears agree on each', async () => {
    const [one, two] = await both()
    const [mine, yours] = [await one.session('s'), await two.session('s')]
    const run = await mine.run('turn')
    const heard: unknown[] = []
    const cancelled: unknown[] = []
    for (let round = 0; round < 15; round++) {
      const ids = []
      for (let i = 0; i < 3; i++) ids.push((await yours.input(`${round}/${i}`)).id)
      const [taken, outcomes] = await Promise.all([run.inputs(), yours.inputs.cancel(ids)])
      heard.push(...taken.map(({ id }) => id))
      cancelled.push(...outcomes.filter(({ outcome }) => outcome === 'cancelled').map(({ id }) => id))
    }
    heard.push(...(await run.inputs()).map(({ id }) => id))
    expect(new Set(heard).size).toBe(heard.length)
    expect(heard.filter((id) => cancelled.includes(id))).toEqual([])
    expect(heard.length + cancelled.length).toBe(45)
    await run.finish()
    await expectSound(one)
  })
})

/** Said to a run that is over, and still waiting for it. */
async function unheard(store: Store, session: Session): Promise<readonly unknown[]> {
  const left: unknown[] = []
  for (const state of ['pending', 'accepted'] as const)
    for (const { run, content } of (await session.inputs.list({ state, last: 1000 })).items)
      if (['done', 'failed', 'cancelled'].includes((await store.runs.get(run ?? ''))?.state ?? '')) left.push(content)
  return left
}

test('a store in which a run ends without being looked at would lose what was said to it', async () => {
  const open = shared()
  // Whoever ends a run believes that it is as it was seen.
  const careless = await open({}, (backend) => ({
    ...backend,
    commit: (batch) =>
      backend.commit(
        batch.map((commit) => ({ ...commit, guards: commit.guards.filter((guard) => !(guard.kind === 'row' && guard.table === 'runs')) })),
      ),
  }))
  const speaker = await open()
  const [mine, yours] = [await careless.session('s'), await speaker.session('s')]
  const run = await mine.run('turn')
  await yours.input('hello?')
  await run.finish()
  expect(await unheard(speaker, yours)).toEqual(['hello?'])
})
