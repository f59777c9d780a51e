// How fast a journal is verified, beside the same walk written by hand, and that it holds no more at its end than near its beginning.

import { inChild } from '../lib/child.ts'
import { interleave } from '../lib/rounds.ts'
import { ratios, spread } from '../lib/stats.ts'
import { number } from '../lib/table.ts'
import { atLeast, atMost, type Findings, type Settings, type Workload } from '../lib/workload.ts'
import { journalFile } from './files.ts'
import type { Verified } from './verify-child.ts'

// What a collection may leave behind; anything kept for every event would be far beyond it.
const FLAT_MIB = 4

export const verifyRate: Workload = {
  name: 'verify',
  title: 'verify a journal',
  run: async (settings: Settings): Promise<Findings> => {
    const events = settings.quick ? 60_000 : 200_000
    const { path } = await journalFile(settings, events, 1)
    const child = (how: string) => inChild<Verified>(new URL('verify-child.ts', import.meta.url), path, how)
    const memory: Verified[] = []
    const found = await interleave(settings.rounds, {
      ours: async () => {
        const verified = await child('ours')
        memory.push(verified)
        return verified.eventsPerSecond
      },
      raw: async () => (await child('raw')).eventsPerSecond,
    })
    const rates = spread(found.ours)
    const growth = spread(memory.map((m) => m.grownMiB))
    return {
      measures: [
        {
          what: 'rate',
          unit: 'ev/s',
          ours: rates,
          peer: spread(found.raw),
          peerName: 'raw',
          ratio: ratios(found.ours, found.raw),
          goal: atLeast(100_000, rates, 'ev/s'),
        },
        { what: 'memory held, grown from first to last', unit: 'MiB', ours: growth, goal: atMost(FLAT_MIB, growth, 'MiB') },
        { what: 'resident memory, most', unit: 'MiB', ours: spread(memory.map((m) => m.residentMiB)) },
      ],
      notes: [
        `${number(events)} events, a fresh process each time; held is what JavaScript keeps after a collection, sampled at every tenth`,
        'resident memory counts Node itself and SQLite’s page cache, which fills up to 64 MiB',
        'raw: the same pages and the same three SHA-256 an event, compared with what is stored; no report, no erasures, no anchors',
      ],
    }
  },
}
