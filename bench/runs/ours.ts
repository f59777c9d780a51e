// Runs of ours, as a program has them: a session for each caller, a run in it, effects one after the other.

import type { Run, Session, Store } from '../../src/index.ts'
import { callerSessions } from '../postgres/sessions.ts'
import { result } from './result.ts'
import { turn } from './turn.ts'

export const RUN = 'bench'
export const EFFECT = 'call model'

export interface OurRuns {
  /** So many runs at once, from opening to finishing, each with so many effects: effects a second. */
  perSecond(runs: number, each: number): Promise<number>
  /** So many callers at once, each opening and finishing so many runs that do nothing: runs a second. */
  emptyPerSecond(callers: number, each: number): Promise<number>
}

export async function ourRuns(store: Store, most: number): Promise<OurRuns> {
  const sessionOf = await callerSessions(store, most)
  let runs = 0
  const whole = async (caller: number, effects: number) => {
    await using run = await sessionOf(caller).run(RUN, { key: String(runs++) })
    for (let i = 0; i < effects; i++) await effect(run, i)
    await run.finish({ effects })
  }
  return {
    perSecond: (callers, each) => turn(callers, each, (caller) => whole(caller, each)),
    emptyPerSecond: (callers, each) =>
      turn(callers, each, async (caller) => {
        for (let i = 0; i < each; i++) await whole(caller, 0)
      }),
  }
}

export const effect = (run: Run, i: number): Promise<unknown> => run.effect(EFFECT, async () => result(i))

/** Under replay: what was recorded is answered, and nothing is called. */
export const recorded = (run: Run): Promise<unknown> =>
  run.effect(EFFECT, () => {
    throw new Error('an effect of the benchmark that was recorded was called again')
  })

const AT_ONCE = 64

/** A run with so many effects on its tape, asked for in batches: that is quicker, and leaves the same tape. It is left open. */
export async function filledRun(session: Session, effects: number): Promise<Run> {
  const run = await session.run(RUN)
  for (let done = 0; done < effects; done += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, effects - done) }, (_, i) => effect(run, done + i)))
  return run
}

/** What the journal holds: a rate counts only what is there afterwards. */
export async function settledEffects(store: Store): Promise<number> {
  let count = 0
  for await (const _ of store.events({ types: ['effect.settled'] })) count++
  return count
}
