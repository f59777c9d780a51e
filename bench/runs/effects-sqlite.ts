// Durable effects on SQLite beside the floor: what a run costs over bare rows of the same bytes.

import { join } from 'node:path'
import { open, type Store } from '../../src/index.ts'
import { RawJournal } from '../journal/raw.ts'
import { interleave } from '../lib/rounds.ts'
import { ratios, spread } from '../lib/stats.ts'
import type { Findings, Settings, Workload } from '../lib/workload.ts'
import { effect, ourRuns, RUN, settledEffects } from './ours.ts'
import { expectAll, turn } from './turn.ts'

const RUNS = 64

export const effectsOnSqlite: Workload = {
  name: 'effects-sqlite',
  title: 'durable effects on SQLite, FULL, beside raw appends of the same bytes on node:sqlite',
  run: async ({ quick, rounds, folder }: Settings): Promise<Findings> => {
    await using store = await open(join(folder, 'runs.db'))
    const raw = new RawJournal(join(folder, 'raw.db'))
    const { type, data } = await settledEvent(store)
    const ours = await ourRuns(store, RUNS)
    const [each, alone] = quick ? [50, 500] : [200, 2000]
    const floor = (callers: number, count: number) =>
      turn(callers, count, async () => {
        for (let i = 0; i < count; i++) await raw.append(type, data)
      })
    const found = await interleave(rounds, {
      ours: () => ours.perSecond(RUNS, each),
      raw: () => floor(RUNS, each),
      ours1: () => ours.perSecond(1, alone),
      raw1: () => floor(1, alone),
    })
    raw.close()
    expectAll('ours', await settledEffects(store), (rounds + 1) * (RUNS * each + alone) + 1)
    const pair = (mine: readonly number[], peer: readonly number[]) => ({
      unit: 'ef/s',
      ours: spread(mine),
      peer: spread(peer),
      peerName: 'raw',
      ratio: ratios(mine, peer),
    })
    return {
      measures: [
        { what: `${RUNS} runs at once, ${each} effects each`, ...pair(found.ours, found.raw) },
        { what: `1 run, ${alone} effects one after the other`, ...pair(found.ours1, found.raw1) },
      ],
      notes: [
        `an event of ${JSON.stringify(data).length} bytes for each effect, and the same one for the floor; opening and finishing the run is in our time`,
        `raw: ${raw.settings}, up to 64 events a transaction; no guards, no redaction, no tape: an append by hand, not something to compare a run with`,
      ],
    }
  },
}

/** What one effect leaves in the journal, so that the floor writes the same. */
async function settledEvent(store: Store): Promise<{ readonly type: string; readonly data: unknown }> {
  await using run = await (await store.session('sample')).run(RUN)
  await effect(run, 0)
  for await (const event of run.tape()) if (event.type === 'effect.settled') return event
  throw new Error('an effect left no event')
}
