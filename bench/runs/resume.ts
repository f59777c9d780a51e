// The time to resume a run after a crash: with checkpoints, without, and beside the recovery of DBOS.

import { join } from 'node:path'
import { open, type Run, type Session, type Store } from '../../src/index.ts'
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

export const resume: Workload = {
  name: 'resume',
  title: 'time to resume after a crash: from opening the run to its next new effect',
  needsPeers: true,
  run: async (settings: Settings): Promise<Findings> => {
    const { quick, rounds, folder, say } = settings
    const counts = quick ? [10_000] : [10_000, 100_000]
    const measures: Measure[] = []
    {
      await using store = await open(join(folder, 'resume.db'))
      measures.push(...(await resumed('SQLite', store, counts, rounds, say)))
    }
    await using server = await startBenchServer()
    {
      await using store = await open(await server.database())
      measures.push(...(await resumed('PostgreSQL', store, counts, rounds, say)))
      const steps = quick ? 300 : 1000
      const session = await store.session('beside DBOS')
      await filled(session, steps, false)
      const ours: number[] = []
      for (let round = 0; round <= rounds; round++) {
        const ms = await resumeTime(session, steps, false)
        if (round > 0) ours.push(ms)
      }
      const peer = await dbosRecovery(await server.database(), steps, rounds)
      const what = `PostgreSQL, ${number(steps)} effects without checkpoints`
      measures.push({ what, unit: 'ms', ours: spread(ours), peer: spread(peer), peerName: 'DBOS', ratio: ratios(ours, peer) })
    }
    return {
      measures,
      notes: [
        `a checkpoint every ${EVERY} effects, the last one ${EVERY} effects before the end; the short run has ${SHORT} effects and no checkpoint`,
        'the lease is released before: waiting for the lease of a dead process is in takeover',
        'DBOS: from launch(), which finds its pending workflow, to the step after the recorded ones',
        server.settings,
      ],
    }
  },
}

/** Fills a run with effects, and closes it as a crash would leave it. */
async function filled(session: Session, effects: number, checkpoints: boolean): Promise<void> {
  await using run = await session.run(RUN)
  for (let done = 0; done < effects; done += AT_ONCE) {
    if (checkpoints && done > 0 && done % EVERY === 0) await run.checkpoint({ done })
    await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => effect(run, done + i)))
  }
}

async function resumeTime(session: Session, effects: number, checkpoints: boolean): Promise<number> {
  const start = performance.now()
  await using run: Run = await session.run(RUN)
  const { done = 0 } = (checkpoints ? await run.restore<{ done: number }>() : undefined) ?? {}
  for (let i = done; i < effects; i++) await recorded(run)
  // The next call is new: replay has to know that nothing else is recorded.
  await run.begin('next')
  return performance.now() - start
}

async function resumed(
  where: string,
  store: Store,
  counts: readonly number[],
  rounds: number,
  say: Settings['say'],
): Promise<readonly Measure[]> {
  const short = await store.session('short')
  await filled(short, SHORT, false)
  const measures: Measure[] = []
  for (const count of counts) {
    for (const checkpoints of [true, false]) {
      say(`${where}: ${number(count)} effects ${checkpoints ? 'with' : 'without'} checkpoints`)
      const session = await store.session(`${count} ${checkpoints}`)
      await filled(session, count, checkpoints)
      const times: { long: number[]; short: number[] } = { long: [], short: [] }
      for (let round = 0; round <= rounds; round++) {
        const pair = [await resumeTime(session, count, checkpoints), await resumeTime(short, SHORT, false)] as const
        // The first one warms up.
        if (round === 0) continue
        times.long.push(pair[0])
        times.short.push(pair[1])
      }
      const ratio = ratios(times.long, times.short)
      const what = `${where}, ${number(count)} effects ${checkpoints ? 'with' : 'without'} checkpoints`
      const beside = { ours: spread(times.long), peer: spread(times.short), peerName: `${SHORT} effects`, ratio }
      measures.push({ what, unit: 'ms', ...beside, ...(checkpoints && { goal: atMost(WITHIN, ratio) }) })
    }
  }
  return measures
}
