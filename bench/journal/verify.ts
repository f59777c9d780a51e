// How fast a journal is verified, and that it takes no more memory at its end than near its beginning.

import { inChild } from '../lib/child.ts'
import { spread } from '../lib/stats.ts'
import { atLeast, atMost, type Findings, type Settings, type Workload } from '../lib/workload.ts'
import { journalFile } from './files.ts'
import type { Verified } from './verify-child.ts'

// What a collector may leave lying about at the moment of a sample; a report that grew with the journal would be far beyond it.
const FLAT_MIB = 24

export const verifyRate: Workload = {
  name: 'verify',
  title: 'verify a journal',
  run: async (settings: Settings): Promise<Findings> => {
    const events = settings.quick ? 50_000 : 200_000
    const { path } = await journalFile(settings, events, 1)
    const found: Verified[] = []
    for (let round = 0; round < settings.rounds; round++) found.push(await inChild(new URL('verify-child.ts', import.meta.url), path))
    const rates = spread(found.map((f) => f.eventsPerSecond))
    const growth = spread(found.map((f) => f.grownMiB))
    return {
      measures: [
        { what: 'rate', unit: 'ev/s', ours: rates, goal: atLeast(100_000, rates, 'ev/s') },
        { what: 'memory grown after the first fifth', unit: 'MiB', ours: growth, goal: atMost(FLAT_MIB, growth, 'MiB') },
      ],
      notes: [`${events} events, a fresh process each round; resident memory sampled with every page, from one fifth of the journal on`],
    }
  },
}
