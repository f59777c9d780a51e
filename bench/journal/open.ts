// Opening a large file: the time a fresh process needs until recent() has answered, and how much of the file it read for that.

import { inChild } from '../lib/child.ts'
import { interleave } from '../lib/rounds.ts'
import { ratios, spread } from '../lib/stats.ts'
import { number } from '../lib/table.ts'
import { atMost, type Findings, type Settings, type Workload } from '../lib/workload.ts'
import { journalFile, largeEvents, largeFile } from './files.ts'
import type { Opened } from './open-child.ts'

const READ_MIB = 4

export const openLarge: Workload = {
  name: 'open',
  title: 'open a large file, until the first recent()',
  run: async (settings: Settings): Promise<Findings> => {
    const large = await largeFile(settings, 1)
    const small = await journalFile(settings, 10_000, 1)
    const read: number[] = []
    const once = async (path: string, note?: number[]) => {
      const { ms, readMiB } = await inChild<Opened>(new URL('open-child.ts', import.meta.url), path)
      if (readMiB !== null) note?.push(readMiB)
      return ms
    }
    const found = await interleave(settings.rounds, { large: () => once(large.path, read), small: () => once(small.path) })
    const ms = spread(found.large)
    return {
      measures: [
        {
          what: `${number(largeEvents(settings))} events, beside 10 000`,
          unit: 'ms',
          ours: ms,
          peer: spread(found.small),
          peerName: '10 k',
          ratio: ratios(found.large, found.small),
          goal: atMost(50, ms, 'ms'),
        },
        ...(read.length > 0
          ? [{ what: 'read from the file', unit: 'MiB', ours: spread(read), goal: atMost(READ_MIB, spread(read), 'MiB') }]
          : []),
      ],
      notes: ['a fresh process each time, modules loaded, the file in the page cache; the “peer” is our own file of 10 000 events'],
    }
  },
}
