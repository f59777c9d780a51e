// What an append and a recent read cost in a small journal and in a large one: by the median and by the slowest hundredth.

import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { open, type Session, type Store } from '../../src/index.ts'
import { latencies } from '../lib/rounds.ts'
import { percentile, ratios, spread } from '../lib/stats.ts'
import { number } from '../lib/table.ts'
import { atMost, type Findings, type Measure, type Settings, type Workload } from '../lib/workload.ts'
import { type JournalFile, journalFile, largeEvents, largeFile, MANY, sessionKey } from './files.ts'
import { payload, TYPE } from './payload.ts'

const SMALL = 10_000
const WITHIN = 1.3
const PAGE = 50
const CHUNKS = 8
const PARTS = { median: 0.5, p99: 0.99 } as const

const OPERATIONS = {
  'append, 64 callers': { callers: 64, part: 1, one: (s, i) => s.session(i).append(TYPE, payload(i)) },
  'append, 1 caller': { callers: 1, part: 0.25, one: (s, i) => s.session(i).append(TYPE, payload(i)) },
  'last page': { callers: 1, part: 0.25, one: (s) => s.store.page({ backwards: true, limit: PAGE }) },
  'last page of a session': {
    callers: 1,
    part: 0.25,
    one: (s, i) => s.store.page({ session: s.session(i).id, backwards: true, limit: s.sessionPage }),
  },
  'tail page': { callers: 1, part: 0.25, one: (s) => s.store.page({ after: s.head - PAGE, limit: PAGE }) },
} satisfies Record<string, { callers: number; part: number; one: (subject: Subject, i: number) => Promise<unknown> }>

type Operation = keyof typeof OPERATIONS

interface Both {
  readonly large: number[]
  readonly small: number[]
}

interface Subject {
  readonly store: Store
  readonly head: number
  /** As many as a session has in the small file too, so that both read the same number of events. */
  readonly sessionPage: number
  session(i: number): Session
}

export const growth: Workload = {
  name: 'growth',
  title: 'cost as the journal grows: ours is the large file, the peer our own small one',
  run: async (settings: Settings): Promise<Findings> => {
    const measures = [...(await grown(settings, 1)), ...(await grown(settings, MANY))]
    return {
      measures,
      notes: [
        `${number(largeEvents(settings))} events beside ${number(SMALL)}; both stay open, so both grow by some thousand events a round`,
        `each round takes the median and the p99 of both files, which are asked in ${CHUNKS} short turns; the ratio is that of the round`,
      ],
    }
  },
}

async function grown(settings: Settings, sessions: number): Promise<Measure[]> {
  const [large, small] = [
    await subject(settings, await largeFile(settings, sessions)),
    await subject(settings, await journalFile(settings, SMALL, sessions)),
  ]
  const found = new Map<string, Both>()
  for (let round = 0; round <= settings.rounds; round++) {
    for (const name of Object.keys(OPERATIONS) as Operation[]) {
      const { callers, part, one } = OPERATIONS[name]
      const count = Math.round(((settings.quick ? 1600 : 3200) * part) / CHUNKS)
      const times: Both = { large: [], small: [] }
      // In short turns: a burst of someone else's load, or a checkpoint, then falls on both.
      for (let chunk = 0; chunk < CHUNKS; chunk++) {
        const first = (round * CHUNKS + chunk) * count
        for (const which of chunk % 2 === 0 ? (['large', 'small'] as const) : (['small', 'large'] as const)) {
          const on = which === 'large' ? large : small
          times[which].push(...(await latencies(callers, count, (i) => one(on, first + i))))
        }
      }
      if (round === 0) continue
      for (const [level, share] of Object.entries(PARTS)) {
        const key = `${name}|${level}`
        const both: Both = found.get(key) ?? { large: [], small: [] }
        found.set(key, both)
        both.large.push(percentile(times.large, share))
        both.small.push(percentile(times.small, share))
      }
    }
  }
  await large.store.close()
  await small.store.close()
  return [...found].map(([key, both]) => {
    const ratio = ratios(both.large, both.small)
    const [name, part] = key.split('|')
    return {
      what: `${number(sessions)} session${sessions === 1 ? '' : 's'}, ${name}, ${part}`,
      unit: 'ms',
      ours: spread(both.large),
      peer: spread(both.small),
      peerName: 'small',
      ratio,
      goal: atMost(WITHIN, ratio),
    }
  })
}

/** On a copy, so that a kept file stays as it was built. */
async function subject({ folder }: Settings, file: JournalFile): Promise<Subject> {
  const path = join(folder, `growth-${file.events}-${file.sessions}.db`)
  copyFileSync(file.path, path)
  const store = await open(path)
  const found = await Promise.all(Array.from({ length: file.sessions }, (_, i) => store.sessions.find(sessionKey(i))))
  const sessions = found.filter((s) => s !== undefined)
  return {
    store,
    head: file.events,
    sessionPage: Math.min(PAGE, SMALL / file.sessions),
    session: (i) => sessions[(i * 7919) % sessions.length] as Session,
  }
}
