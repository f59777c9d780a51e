// Programs of random steps with checkpoints in between. The state of a program is where it stands and what it has seen, and a checkpoint stores
// just that.

import type { Run } from '../../src/index.ts'
import type { Outbox } from '../runs/full-program.ts'

export type Step = 'effect' | 'append' | 'sleep' | 'all' | 'race' | 'draw' | 'usage' | 'begin' | 'checkpoint'

export const STEPS: readonly Step[] = ['effect', 'append', 'sleep', 'all', 'race', 'draw', 'usage', 'begin', 'checkpoint']

interface State {
  readonly at: number
  readonly seen: readonly unknown[]
}

/** Runs the steps. With `restores`, it begins after the newest checkpoint; without, it replays everything. */
export async function runSteps(run: Run, steps: readonly Step[], restores: boolean, outbox: Outbox, isDead: () => boolean) {
  const last = restores ? await run.restore<State & object>() : undefined
  let { at, seen }: State = last ?? { at: 0, seen: [] }
  let now = run.now()
  for (; at < steps.length; at++) {
    if (steps[at] === 'checkpoint') await run.checkpoint({ at: at + 1, seen })
    else seen = [...seen, await take(run, steps[at] as Step, at, outbox, isDead)]
    if (run.now() < now) throw new Error('the time of the run went back')
    now = run.now()
  }
  return seen
}

async function take(run: Run, step: Step, at: number, outbox: Outbox, isDead: () => boolean): Promise<unknown> {
  // All effects have the same name, so that only epochs and ordinals keep them apart.
  const does = (what: string) => outbox.does(`${at} ${what}`, isDead, `${at} ${what}`)
  switch (step) {
    case 'effect':
      return outbox.saw(`${at} effect`, await run.effect('work', does('effect')))
    case 'begin': {
      const begun = await run.begin<string>('by hand')
      if (begun.done) return outbox.saw(`${at} begin`, begun.result)
      return outbox.saw(`${at} begin`, await begun.settle(await does('begin')({ key: begun.key, attempt: 1 })))
    }
    case 'append':
      await run.append('plan.changed', { at })
      return 'appended'
    case 'sleep':
      await run.sleep(1)
      return 'slept'
    case 'all':
      return [
        ...(await run.all({
          left: async (branch) => outbox.saw(`${at} left`, await branch.effect('work', does('left'))),
          right: async (branch) => outbox.saw(`${at} right`, await branch.effect('work', does('right'))),
        })),
      ]
    case 'race':
      return run.race({
        slow: (branch) => branch.sleep('30d'),
        fast: async (branch) => outbox.saw(`${at} fast`, await branch.effect('work', does('fast'))),
      })
    case 'draw': {
      const drawn = run.random()
      // Replay draws the same number that was recorded.
      return (await run.effect('drawn', () => drawn)) === drawn ? 'the same draw' : 'another draw'
    }
    case 'usage':
      await run.usage({ model: 'm', source: 'turn', inputTokens: 1 })
      return 'used'
    case 'checkpoint':
      return 'not here'
  }
}
