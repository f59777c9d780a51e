// The time to resume a run after a crash: with checkpoints, without, and beside the recovery of DBOS.

import { join } from 'node:path'
import { open, type Session, type Store } from '../../src/index.ts'
import { interleave } from '../lib/rounds.ts'
import { ratios, spread } from '../lib/stats.ts'
import { number } from '../lib/table.ts'
import { atMost, type Findings, type Measure, type Settings, type Workload } from '../lib/workload.ts'
import { startBenchServer } from '../postgres/server.ts'
import { dbosRecovery } from './dbos-recovery.ts'
import { effect, RUN, recorded } from './ours.ts'

const SHORT = 100
const EVERY = 100
const WITHIN = 1.3
const AT_ONCE = 50
/** A long workflow takes DBOS most of a minute, so it has fewer rounds. */
const LONG = 100_000
const LONG_ROUNDS = 3

export const resume: Workload = {
  name: 'resume',
  title: 'time to resume after a crash: until the next new effect',
  needsPeers: true,
  run: async (settings: Settings): Promise<Findings> => {
    const counts = settings.quick ? [2000] : [10_000, LONG]
    await using server = await startBenchServer()
    const url = await server.database()
    const measures: Measure[] = []
    const places = { 'in memory': ':memory:', SQLite: join(settings.folder, 'resume.db'), PostgreSQL: url }
    for (const [where, place] of Object.entries(places)) {
      await using store = await open(place)
      measures.push(...(await besideShort(where, store, counts, settings)))
    }
    measures.push(...(await besideDbos(url, () => server.database(), [SHORT, ...counts], settings)))
    return {
      measures,
      notes: [
        `a checkpoint every ${EVERY} effects, the last one ${EVERY} effects before the end; a run of ${SHORT} effects has none`,
        'beside the short run: from opening the run to its next new effect; beside DBOS: from opening the store',
        'DBOS: from launch(), which finds its pending workflow, to the step after the recorded ones',
        'the lease is released before: waiting for the lease of a dead process is in takeover',
        server.settings,
      ],
    }
  },
}

const sessionName = (effects: number, checkpoints: boolean): string => `${effects} ${checkpoints}`
const told = (effects: number, checkpoints: boolean): string => `${number(effects)} effects ${checkpoints ? 'with' : 'without'} checkpoints`

/** Fills a run with effects, and closes it as a crash would leave it. */
async function fill(session: Session, effects: number, checkpoints: boolean): Promise<void> {
  await using run = await session.run(RUN)
  for (let done = 0; done < effects; done += AT_ONCE) {
    if (checkpoints && done > 0 && done % EVERY === 0) await run.checkpoint({ done })
    await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => effect(run, done + i)))
  }
}

/** Milliseconds from `start` until the run has asked for everything that is recorded. */
async function resumeTime(session: Session, effects: number, checkpoints: boolean, start = performance.now()): Promise<number> {
  await using run = await session.run(RUN)
  const { done = 0 } = (checkpoints ? await run.restore<{ done: number }>() : undefined) ?? {}
  for (let i = done; i < effects; i++) await recorded(run)
  // The next call is new: replay has to know that nothing else is recorded.
  await run.begin('next')
  return performance.now() - start
}

async function besideShort(where: string, store: Store, counts: readonly number[], { rounds, say }: Settings): Promise<readonly Measure[]> {
  for (const checkpoints of [true, false]) await fill(await store.session(sessionName(SHORT, checkpoints)), SHORT, checkpoints)
  const shortSession = await store.session(sessionName(SHORT, false))
  const measures: Measure[] = []
  for (const count of counts) {
    for (const checkpoints of [true, false]) {
      say(`${where}: ${told(count, checkpoints)}`)
      const session = await store.session(sessionName(count, checkpoints))
      await fill(session, count, checkpoints)
      const { long, short } = await interleave(rounds, {
        long: () => resumeTime(session, count, checkpoints),
        short: () => resumeTime(shortSession, SHORT, false),
      })
      const ratio = ratios(long, short)
      const what = `${where}, ${told(count, checkpoints)}`
      const beside = { ours: spread(long), peer: spread(short), peerName: `${SHORT} effects`, ratio }
      measures.push({ what, unit: 'ms', ...beside, ...(checkpoints && { goal: atMost(WITHIN, ratio) }) })
    }
  }
  return measures
}

/** The runs that `besideShort` left in this database, each beside a workflow of as many steps. */
async function besideDbos(
  url: string,
  database: () => Promise<string>,
  counts: readonly number[],
  { rounds, say }: Settings,
): Promise<readonly Measure[]> {
  const dbos = await dbosRecovery()
  const measures: Measure[] = []
  const ours = async (count: number, checkpoints: boolean): Promise<number> => {
    const start = performance.now()
    await using store = await open(url)
    return await resumeTime(await store.session(sessionName(count, checkpoints)), count, checkpoints, start)
  }
  for (const count of counts) {
    say(`DBOS: ${number(count)} steps`)
    const theirs = await database()
    await dbos.record(theirs, count)
    const times = await interleave(count === LONG ? Math.min(rounds, LONG_ROUNDS) : rounds, {
      with: () => ours(count, true),
      without: () => ours(count, false),
      peer: () => dbos.recover(theirs),
    })
    for (const checkpoints of [true, false]) {
      const mine = checkpoints ? times.with : times.without
      const beside = { peer: spread(times.peer), peerName: 'DBOS', ratio: ratios(mine, times.peer) }
      measures.push({ what: `PostgreSQL, ${told(count, checkpoints)}`, unit: 'ms', ours: spread(mine), ...beside })
    }
  }
  return measures
}
