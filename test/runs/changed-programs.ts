// Programs that no longer ask for what was recorded, each changed in one way, and how a store has to stop them.

import type { Run, Store } from '../../src/index.ts'
import { codeOf } from '../support/engines.ts'

type Program = (run: Run, call: (what: string) => () => string) => Promise<unknown>

/** What was recorded, by all of these programs: two effects, a group of branches with an effect each, a sleep, one more effect. */
const recorded: Program = async (run, call) => {
  await run.effect('one', call('one'))
  await run.effect('two', call('two'))
  await run.all({ a: (r) => r.effect('x', call('a.x')), b: (r) => r.effect('x', call('b.x')) })
  await run.sleep(1)
  await run.effect('three', call('three'))
}

export const CHANGED: Readonly<Record<string, Program>> = {
  'an effect was removed': async (run, call) => {
    await run.effect('one', call('one'))
    await run.all({ a: (r) => r.effect('x', call('a.x')), b: (r) => r.effect('x', call('b.x')) })
    await run.sleep(1)
    await run.effect('three', call('three'))
    await run.effect('four', call('four'))
  },
  'an effect was renamed': async (run, call) => {
    await run.effect('one', call('one'))
    await run.effect('zwei', call('zwei'))
  },
  'an effect was added before what is recorded': async (run, call) => {
    await run.effect('zero', call('zero'))
    await recorded(run, call)
  },
  'what comes next was put before what is recorded': async (run, call) => {
    await run.effect('one', call('one'))
    await run.effect('four', call('four'))
    await run.effect('two', call('two'))
  },
  'a branch was renamed': async (run, call) => {
    await run.effect('one', call('one'))
    await run.effect('two', call('two'))
    await run.all({ a: (r) => r.effect('x', call('a.x')), c: (r) => r.effect('x', call('c.x')) })
  },
  'a branch was removed': async (run, call) => {
    await run.effect('one', call('one'))
    await run.effect('two', call('two'))
    await run.all({ a: (r) => r.effect('x', call('a.x')) })
    await run.sleep(1)
    await run.effect('three', call('three'))
    await run.effect('four', call('four'))
  },
  'a branch was added in the middle': async (run, call) => {
    await run.effect('one', call('one'))
    await run.effect('two', call('two'))
    await run.all({ a: (r) => r.effect('x', call('a.x')), b: (r) => r.effect('x', call('b.x')), c: (r) => r.effect('x', call('c.x')) })
    await run.sleep(1)
  },
  'a wait became another one': async (run, call) => {
    await run.effect('one', call('one'))
    await run.effect('two', call('two'))
    await run.all({ a: (r) => r.effect('x', call('a.x')), b: (r) => r.effect('x', call('b.x')) })
    await run.until(1)
    await run.effect('three', call('three'))
  },
  'an event is appended that was not': async (run, call) => {
    await run.append('step.noted', {})
    await recorded(run, call)
  },
  'something else is used up': async (run, call) => {
    await run.usage({ model: 'm', inputTokens: 1 })
    await recorded(run, call)
  },
  'a child is started that was not': async (run, call) => {
    await run.child('kid')
    await recorded(run, call)
  },
  'a race where there was none': async (run, call) => {
    await run.effect('one', call('one'))
    await run.effect('two', call('two'))
    await run.race({ a: (r) => r.effect('x', call('a.x')), b: (r) => r.effect('x', call('b.x')) })
  },
  'it ended early': async (run, call) => {
    await run.effect('one', call('one'))
    await run.effect('two', call('two'))
    await run.finish('early')
  },
}

/** What is wrong with how the changed program was stopped; and the unchanged one goes on, which is the control. */
export async function diverges(store: Store, why: string, changed: Program): Promise<readonly string[]> {
  const session = await store.session(why)
  const wrong: string[] = []
  const calls: string[] = []
  const call = (what: string) => () => {
    calls.push(what)
    return what
  }
  const first = await session.run('r')
  await recorded(first, call)
  await first.close()
  calls.length = 0
  const run = await session.run('r')
  const before = await lastOf(store, session.id)
  const found = await codeOf(changed(run, call))
  if (found !== 'REPLAY_DIVERGED') wrong.push(`${why}: ${found}`)
  if (calls.length > 0) wrong.push(`${why}: called ${calls}`)
  if ((await lastOf(store, session.id)) !== before) wrong.push(`${why}: something was written`)
  if ((await store.runs.get(run.id))?.state !== 'running') wrong.push(`${why}: it is ${(await store.runs.get(run.id))?.state}`)
  await run.close()
  const again = await session.run('r')
  await recorded(again, call)
  await again.effect('four', call('four'))
  await again.finish()
  if (calls.join() !== 'four') wrong.push(`${why}: the unchanged program called ${calls}`)
  return wrong
}

async function lastOf(store: Store, session: string): Promise<number> {
  const { items } = await store.page({ session: session as never, backwards: true, limit: 1 })
  return items[0]?.seq ?? 0
}
