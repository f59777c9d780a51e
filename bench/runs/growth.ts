// What an effect and an opening cost in a long run and in a short one, on both databases.

import { join } from 'node:path'
import { open, type Run, type Session, type Store } from '../../src/index.ts'
import { median, ratios, spread } from '../lib/stats.ts'
import { number } from '../lib/table.ts'
import { atMost, type Findings, type Measure, type Settings, type Workload } from '../lib/workload.ts'
import { startBenchServer } from '../postgres/server.ts'
import { effect, filledRun, RUN } from './ours.ts'

const LONG = 10_000
const SHORT = 100
const WITHIN = 1.3
const CHUNKS = 10
const OPENINGS = 20

interface Both {
  readonly long: number[]
  readonly short: number[]
}

type Which = keyof Both

export const growth: Workload = {
  name: 'growth',
  title: 'cost as a run grows: ours is the long run, the peer our own short one',
  run: async (settings: Settings): Promise<Findings> => {
    const measures: Measure[] = []
    {
      await using store = await open(join(settings.folder, 'growth.db'))
      measures.push(...(await grown('SQLite', store, settings)))
    }
    await using server = await startBenchServer()
    await using store = await open(await server.database())
    measures.push(...(await grown('PostgreSQL', store, settings)))
    return {
      measures,
      notes: [
        `${number(SHORT)} effects a round, one after the other: those after the first ${number(LONG)} of a run beside the first ${number(SHORT)} of a new one, in ${CHUNKS} short turns; the median of a round`,
        `opening is session.run until the handle is there, ${OPENINGS} times a round for each of two runs; it reads no tape, and what reading it costs is in takeover`,
        server.settings,
      ],
    }
  },
}

async function grown(where: string, store: Store, { rounds }: Settings): Promise<Measure[]> {
  const longSession = await store.session('long')
  const shortSession = await store.session('short')
  const long = await filledRun(longSession, LONG)
  const effects: Both = { long: [], short: [] }
  for (let round = 0; round <= rounds; round++) {
    await using short = await (await store.session(`short ${round}`)).run(RUN)
    const times = await effectTimes(long, short)
    // The first one warms up.
    if (round > 0) note(effects, times)
  }
  await long.close()
  await (await filledRun(shortSession, SHORT)).close()
  const openings: Both = { long: [], short: [] }
  for (let round = 0; round <= rounds; round++) {
    const times = await openingTimes(longSession, shortSession)
    if (round > 0) note(openings, times)
  }
  return [
    measure(`${where}, an effect after ${number(LONG)}, beside the first ${number(SHORT)}`, effects),
    measure(`${where}, opening with ${number(LONG)} effects, beside ${number(SHORT)}`, openings),
  ]
}

/** In short turns: a burst of somebody else's load then falls on both. */
async function effectTimes(long: Run, short: Run): Promise<Both> {
  const times: Both = { long: [], short: [] }
  for (let chunk = 0; chunk < CHUNKS; chunk++) {
    for (const which of order(chunk)) {
      for (let i = 0; i < SHORT / CHUNKS; i++) {
        const start = performance.now()
        await effect(which === 'long' ? long : short, i)
        times[which].push(performance.now() - start)
      }
    }
  }
  return times
}

async function openingTimes(long: Session, short: Session): Promise<Both> {
  const times: Both = { long: [], short: [] }
  for (let i = 0; i < OPENINGS; i++) {
    for (const which of order(i)) {
      const start = performance.now()
      await using run = await (which === 'long' ? long : short).run(RUN)
      times[which].push(performance.now() - start)
      if (run.state !== 'running') throw new Error(`a run of the benchmark opened ${run.state}`)
    }
  }
  return times
}

const order = (i: number): readonly Which[] => (i % 2 === 0 ? ['long', 'short'] : ['short', 'long'])

function note(found: Both, { long, short }: Both): void {
  found.long.push(median(long))
  found.short.push(median(short))
}

function measure(what: string, { long, short }: Both): Measure {
  const ratio = ratios(long, short)
  return { what, unit: 'ms', ours: spread(long), peer: spread(short), peerName: 'short', ratio, goal: atMost(WITHIN, ratio) }
}
