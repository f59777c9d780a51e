// Durable effects on PostgreSQL against the library TypeScript people would reach for: in one run, and in 64 at once.

import { open } from '../../src/index.ts'
import { interleave } from '../lib/rounds.ts'
import { ratios, spread } from '../lib/stats.ts'
import { atLeast, type Findings, type Settings, type Workload } from '../lib/workload.ts'
import { startBenchServer } from '../postgres/server.ts'
import { openDbos } from './dbos.ts'
import { ourRuns, settledEffects } from './ours.ts'
import { result } from './result.ts'
import { expectAll } from './turn.ts'

const RUNS = 64
const EMPTY = 5
const GOAL = 10
const GOAL_ONE = 3

export const effectsOnPostgres: Workload = {
  name: 'effects-postgres',
  title: 'durable effects on PostgreSQL, fsync on, against the steps of DBOS',
  needsPeers: true,
  run: async ({ quick, rounds }: Settings): Promise<Findings> => {
    await using server = await startBenchServer()
    await using dbos = await openDbos(await server.database())
    await using store = await open(await server.database())
    const ours = await ourRuns(store, RUNS)
    const [each, alone] = quick ? [50, 300] : [100, 1000]
    const found = await interleave(rounds, {
      ours: () => ours.perSecond(RUNS, each),
      dbos: () => dbos.perSecond(RUNS, each),
      ours1: () => ours.perSecond(1, alone),
      dbos1: () => dbos.perSecond(1, alone),
      empty: () => ours.emptyPerSecond(RUNS, EMPTY),
      dbosEmpty: () => dbos.emptyPerSecond(RUNS, EMPTY),
    })
    const done = (rounds + 1) * (RUNS * each + alone)
    expectAll('ours', await settledEffects(store), done)
    expectAll('DBOS', await dbos.recordedSteps(), done)
    const pair = (mine: readonly number[], peer: readonly number[], goal?: number) => {
      const ratio = ratios(mine, peer)
      const beside = { ours: spread(mine), peer: spread(peer), peerName: 'DBOS', ratio }
      return goal === undefined ? { unit: 'runs/s', ...beside } : { unit: 'ef/s', ...beside, goal: atLeast(goal, ratio) }
    }
    return {
      measures: [
        { what: `${RUNS} runs at once, ${each} effects each`, ...pair(found.ours, found.dbos, GOAL) },
        { what: `1 run, ${alone} effects one after the other`, ...pair(found.ours1, found.dbos1, GOAL_ONE) },
        { what: `${RUNS} runs at once, no effects`, ...pair(found.empty, found.dbosEmpty) },
      ],
      notes: [
        server.settings,
        `a result of ${JSON.stringify(result(12)).length} bytes; all effects and steps were found in the databases afterwards`,
        'opening and finishing a run, or a workflow, is in the time; the runs without effects show what that is alone',
        `DBOS: ${dbos.settings}`,
        'ours: open(url) with its defaults, redaction on; a session for each of the runs, which is there before',
      ],
    }
  },
}
