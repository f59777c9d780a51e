// Removes rows that ended before a time: processes, occurrences of jobs, and firings. The journal keeps their events.

import type { Store } from '../../index.ts'
import { type Exit, usage } from '../exit.ts'
import { one, time } from '../format.ts'
import { changeStore, type WhoOptions } from '../store.ts'
import { type Terminal, verdict } from '../terminal.ts'
import { jsonLine } from '../text.ts'
import { namedWords, timeWord } from '../words.ts'

interface Prune<Report extends object> {
  /** The removed noun, such as `process`, and its plural. */
  readonly what: readonly [one: string, several?: string]
  /** The verb, such as `ended`, and its plural form if it differs. */
  readonly was: readonly [one: string, several?: string]
  run(store: Store, before: number): Promise<Report>
  count(report: Report): number
  /** Describes the rows that were removed together with them. */
  with?(report: Report): string
}

const pruning =
  <Report extends object>({ what, was, run, count, with: along }: Prune<Report>) =>
  (t: Terminal, words: readonly string[], options: WhoOptions & { readonly before?: string }): Promise<Exit> => {
    const { url } = namedWords(words, {})
    if (options.before === undefined) throw usage(`Missing --before: pass a time, or an age such as 30d.`)
    const before = timeWord(options.before, '--before', Date.now())
    return changeStore(url, options, async (store) => {
      const report = await run(store, before)
      const gone = count(report)
      const when = `that ${gone > 1 ? (was[1] ?? was[0]) : was[0]} before ${time(before)} UTC`
      if (t.json) t.out(jsonLine({ before, ...report }))
      else if (gone === 0) t.out(verdict(t, 'ok', `no ${what[0]} ${when}; nothing was written`))
      else t.out(verdict(t, 'ok', `${one(gone, ...what)} ${when} removed${along ? `, with ${along(report)}` : ''}`))
    })
  }

export const pruneProcesses = pruning({
  what: ['process', 'processes'],
  was: ['ended'],
  run: (store, before) => store.processes.prune({ before }),
  count: ({ processes }) => processes,
  with: ({ events, grants }) => `${one(events, 'event')} and ${one(grants, 'handle')}`,
})

export const pruneOccurrences = pruning({
  what: ['occurrence'],
  was: ['finished'],
  run: (store, before) => store.cron.prune({ before }),
  count: ({ forgotten }) => forgotten,
})

export const pruneFirings = pruning({
  what: ['firing'],
  was: ['was settled', 'were settled'],
  run: (store, before) => store.triggers.prune({ before }),
  count: ({ firings }) => firings,
  with: ({ deliveries }) => one(deliveries, 'delivery', 'deliveries'),
})
