// The text column of a row: what the word index of a backend keeps of it. A backend derives terms, postings and counts from this column
// alone, in the same commit as the row.

import type { MemoryRow } from '../memory.ts'
import type { Body } from '../rows.ts'
import { aboutMark, kindMark, metadataMark, SUPERSEDED, sourceMarks, tagMark } from './marks.ts'
import { countTerms, indexTokensOf } from './tokens.ts'

/** How often a term occurs in the text, in the tags and in the source. Marks occur nowhere: they are zeros. */
export type TermCounts = readonly [term: string, text: number, tags: number, source: number]

export interface IndexedText {
  /** The number of terms of the text, repetitions included. */
  readonly l: number
  /** The mark of the scope. */
  readonly a?: string
  readonly t: readonly TermCounts[]
}

/** The text of a row by its table, or undefined if the row is not searched. */
const texts: Readonly<Record<string, (body: Body) => IndexedText | undefined>> = {
  memory: (body) => memoryText(body as unknown as MemoryRow),
}

/** The value of the column `terms`. */
export function termsColumn(table: string, body: Body): string | null {
  const text = texts[table]?.(body)
  return text ? JSON.stringify(text) : null
}

/** A text column that was read. Other texts are none: a row that somebody wrote by hand is not searched. */
export const readTerms = (column: unknown): IndexedText | undefined =>
  typeof column === 'string' && column.startsWith('{') ? (JSON.parse(column) as IndexedText) : undefined

/** Terms of the three parts, then the marks. */
export function memoryText(row: MemoryRow): IndexedText | undefined {
  if (row.state !== 'active' || row.text === undefined) return undefined
  const words = indexTokensOf(row.text)
  const [text, tags, source] = [words, tagTerms(row), sourceTerms(row)].map(countTerms) as [Counts, Counts, Counts]
  const terms = new Set([...text.keys(), ...tags.keys(), ...source.keys()])
  const counted = [...terms].map((term): TermCounts => [term, text.get(term) ?? 0, tags.get(term) ?? 0, source.get(term) ?? 0])
  return { l: words.length, a: aboutMark(row.about), t: [...counted, ...memoryMarks(row).map((mark): TermCounts => [mark, 0, 0, 0])] }
}

type Counts = ReadonlyMap<string, number>

export const tagTerms = ({ tags = [] }: Pick<MemoryRow, 'tags'>): readonly string[] => tags.flatMap(indexTokensOf)
export const sourceTerms = ({ source = {} }: Pick<MemoryRow, 'source'>): readonly string[] => Object.values(source).flatMap(indexTokensOf)

function memoryMarks(row: MemoryRow): readonly string[] {
  const marks = [
    aboutMark(row.about),
    kindMark(row.kind),
    ...(row.tags ?? []).map(tagMark),
    ...(row.source ? sourceMarks(row.source) : []),
    ...Object.entries(row.metadata ?? {}).flatMap(([key, value]) => metadataMark(key, value) ?? []),
    ...(row.valid?.supersededBy === undefined ? [] : [SUPERSEDED]),
  ]
  return [...new Set(marks)]
}
