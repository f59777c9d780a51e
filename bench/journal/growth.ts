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
const PARTS = { median: 0.5, p99: 0.99 } as const

const OPERATIONS = {
  'append, 64 callers': { callers: 64, count: 2560, one: (s, i) => s.session(i).append(TYPE, payload(i)) },
  'append, 1 caller': { callers: 1, count: 400, one: (s, i) => s.session(i).append(TYPE, payload(i)) },
  'last page': { callers: 1, count: 400, one: (s) => s.store.page({ backwards: true, limit: 50 }) },
  'last page of a session': {
    callers: 1,
    count: 400,
    one: (s, i) => s.store.page({ session: s.session(i).id, backwards: true, limit: 50 }),
  },
  'tail page': { callers: 1, count: 400, one: (s) => s.store.page({ after: s.head - 50, limit: 50 }) },
} satisfies Record<string, { callers: number; count: number; one: (subject: Subject, i: number) => Promise<unknown> }>

type Operation = keyof typeof OPERATIONS

interface Subject {
  readonly store: Store
  readonly head: number
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
        'each round takes the median and the p99 of both files; the ratio is that of the round',
      ],
    }
  },
}

async function grown(settings: Settings, sessions: number): Promise<Measure[]> {
  const [large, small] = [
    await subject(settings, await largeFile(settings, sessions)),
    await subject(settings, await journalFile(settings, SMALL, sessions)),
  ]
  const found = new Map<string, { large: number[]; small: number[] }>()
  for (let round = 0; round <= settings.rounds; round++) {
    for (const name of Object.keys(OPERATIONS) as Operation[]) {
      // Who comes first changes, so that a checkpoint started by one does not always fall on the other.
      const order = round % 2 === 0 ? (['large', 'small'] as const) : (['small', 'large'] as const)
      for (const which of order) {
        const { callers, count, one } = OPERATIONS[name]
        const on = which === 'large' ? large : small
        const times = await latencies(callers, count, (i) => one(on, round * count + i))
        if (round === 0) continue
        for (const [part, level] of Object.entries(PARTS)) {
          const key = `${name}|${part}`
          const both = found.get(key) ?? { large: [], small: [] }
          found.set(key, both)
          both[which].push(percentile(times, level))
        }
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
  return { store, head: file.events, session: (i) => sessions[(i * 7919) % sessions.length] as Session }
}
