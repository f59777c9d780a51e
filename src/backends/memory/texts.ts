// Search by words in its shortest form: every row of the table is looked at, and counts are counted each time.

import { compareText } from '../../model/order.ts'
import { type ColumnValue, type TextTable, tableOf } from '../../model/tables.ts'
import { type IndexedText, readTerms } from '../../model/text/indexed-text.ts'
import type { ColumnRange, ScoredRow, TermStatistics, TextFilter, TextQuery, Texts } from '../../ports/texts.ts'
import { toStored } from './rows.ts'
import { activeTenant, type MemoryRow, type MemoryState, tableRows } from './state.ts'

interface Entry {
  readonly row: MemoryRow
  readonly text: IndexedText
  readonly column: (name: string) => ColumnValue
}

export function texts(state: MemoryState): Texts {
  const entriesOf = (tenant: Parameters<Texts['search']>[0], table: TextTable): readonly Entry[] => {
    const names = Object.keys(tableOf(table).columns)
    return [...tableRows(activeTenant(state, tenant).rows, table).values()].flatMap((row) => {
      const column = (name: string) => row.columns[names.indexOf(name)] as ColumnValue
      const text = readTerms(column('terms'))
      return text ? [{ row, text, column }] : []
    })
  }
  return {
    statistics: async (tenant, table, { terms, prefixes = [], beginnings = [], limit = 0 }): Promise<TermStatistics> => {
      const entries = entriesOf(tenant, table)
      const counts = new Map<string, number>()
      for (const { text } of entries) for (const [term] of text.t) counts.set(term, (counts.get(term) ?? 0) + 1)
      const found = [...new Set(terms)].filter((term) => counts.has(term)).map((term) => ({ term, rows: counts.get(term) as number }))
      const grown = [...prefixes, ...beginnings.filter((word) => !counts.has(word))].flatMap((prefix) =>
        [...counts]
          .filter(([term]) => term.startsWith(prefix))
          .sort(([a, x], [b, y]) => y - x || compareText(a, b))
          .slice(0, limit)
          .map(([term, rows]) => ({ term, rows, prefix })),
      )
      return { rows: entries.length, length: entries.reduce((sum, { text }) => sum + text.l, 0), terms: [...found, ...grown] }
    },
    search: async (tenant, table, query) =>
      entriesOf(tenant, table)
        .filter((entry) => passes(entry, query.filter))
        .flatMap((entry) => scored(entry, query))
        .sort((a, b) => b.score - a.score || a.row.born - b.row.born)
        .slice(0, query.limit),
    around: async (tenant, table, places, span) => {
      const given = new Set(places.map(({ born }) => born))
      const threads = Map.groupBy(entriesOf(tenant, table), ({ column }) => column('thread'))
      return [...new Set(places.map(({ thread }) => thread))].sort(compareText).flatMap((thread) => {
        const rows = (threads.get(thread) ?? []).map(({ row }) => row).sort((a, b) => a.born - b.born)
        const near = new Set(
          places.flatMap((place) => {
            if (place.thread !== thread) return []
            const [before, after] = [rows.filter(({ born }) => born < place.born), rows.filter(({ born }) => born > place.born)]
            return [...before.slice(Math.max(0, before.length - span)), ...after.slice(0, span)]
          }),
        )
        return rows.filter((row) => near.has(row) && !given.has(row.born)).map(toStored)
      })
    },
  }
}

function scored({ row, text }: Entry, query: TextQuery): readonly ScoredRow[] {
  const weights = new Map(query.terms.map(({ term, weight }) => [term, weight]))
  const met = text.t.filter(([term]) => weights.has(term))
  if (met.length === 0) return []
  const score = met.reduce((sum, [term, tf, tags, source]) => {
    const f = tf / (query.lengthBase + query.lengthFactor * text.l) + tags * query.tagWeight + source * query.sourceWeight
    return sum + Math.trunc(((weights.get(term) as number) * f) / (f + query.k1))
  }, 0)
  return [{ row: toStored(row), score }]
}

function passes({ text, column }: Entry, filter: TextFilter): boolean {
  const has = (mark: string): boolean => text.t.some(([term]) => term === mark)
  const lies = ({ column: name, from, below }: ColumnRange): boolean => {
    const value = column(name)
    return value !== null && (from === undefined || (value as number) >= from) && (below === undefined || (value as number) < below)
  }
  return (
    (filter.about?.includes(text.a ?? '') ?? true) &&
    (filter.with ?? []).every((marks) => marks.some(has)) &&
    !(filter.without ?? []).some(has) &&
    (filter.inside ?? []).every(lies) &&
    !(filter.outside ?? []).some(lies) &&
    (filter.equals ?? []).every(({ column: name, value }) => column(name) === value)
  )
}
