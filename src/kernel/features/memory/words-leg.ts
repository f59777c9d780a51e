// The leg of words: BM25 over text, tags and source with the tenant's own statistics. The backend finds a pool; the words of neighbours are
// added here, from the texts themselves, so that a new item never rewrites the entries of another.

import type { MemoryRow } from '../../../model/memory.ts'
import { decodeBody, type StoredRow } from '../../../model/rows.ts'
import { sourceTerms, tagTerms } from '../../../model/text/indexed-text.ts'
import { aboutMark, kindMark, metadataMark, SUPERSEDED, sourceMarks, tagMark } from '../../../model/text/marks.ts'
import { indexTokensOf, isSpacelessCharacter, tokensOf } from '../../../model/text/tokens.ts'
import type { TextFilter, TextQuery } from '../../../ports/texts.ts'
import type { Scope } from '../../wiring/scope.ts'
import type { Candidate, Found, Leg, Question } from './legs.ts'
import { BM25, POOL } from './ranking.ts'

const UNIT = 2 ** 24
/** Words of a question that are searched; the rarest ones count. */
const TERMS_MOST = 64
const PREFIX_TERMS = 8
/** Each is a search of its own; the first ones count. */
const PREFIXES_MOST = 64
/** A shorter unknown word would begin too many others. */
const PREFIX_CHARS = 4
// Only from the beginning of a word: tried at each of its characters, a long word without a star would take quadratic time.
const STARRED = /(?<![\p{L}\p{N}])([\p{L}\p{N}]{2,})\*/gu
/** First and second neighbours, before and after, with their share. */
const BESIDE = [-2, -1, 1, 2].map((by) => [by, Math.abs(by) === 1 ? 1 : BM25.secondNeighbour] as const)
/** Neighbours of neighbours are needed to score the neighbours. */
const SPAN = 4

export const wordsLeg: Leg = { name: 'words', find }

interface WeightedTerm {
  readonly term: string
  readonly weight: number
}

async function find(scope: Scope, text: string, asked: Promise<Question>): Promise<Found> {
  const { backend } = scope.engine
  const [{ terms, most, average }, question] = await Promise.all([weigh(scope, text), asked])
  if (terms.length === 0) return { candidates: [] }
  const query: TextQuery = {
    terms,
    k1: BM25.k1,
    lengthBase: 1 - BM25.b,
    lengthFactor: BM25.b / average,
    tagWeight: BM25.tagWeight,
    sourceWeight: BM25.sourceWeight,
    filter: pushedDown(question),
    limit: POOL,
  }
  const wanted = new Set(terms.map(({ term }) => term))
  const pool = (await backend.texts.search(scope.tenant, 'memory', query)).map(({ row }) => read(row, wanted))
  const places = pool.flatMap(({ row, born }) => (row.thread === undefined ? [] : [{ thread: row.thread, born }]))
  const around = places.length === 0 ? [] : await backend.texts.around(scope.tenant, 'memory', places, SPAN)
  const near = around.map((row) => read(row, wanted))
  const candidates = withNeighbours(pool, near)
    .filter(({ text, allowed }) => allowed || question.allows(text.row))
    .map(({ text, beside }) => score(text, beside, query, average, most))
    .sort((a, b) => b.score - a.score || a.born - b.born)
  return { candidates }
}

/** The terms of the question with their weights, the largest score that they could give, and the average length of a text. */
async function weigh(
  scope: Scope,
  text: string,
): Promise<{ readonly terms: readonly WeightedTerm[]; readonly most: number; readonly average: number }> {
  const { texts } = scope.engine.backend
  const words = [...new Set(tokensOf(text))]
  const starred = [...text.matchAll(STARRED)].flatMap(([, word = '']) => tokensOf(word)).slice(0, PREFIXES_MOST)
  const others = words.filter((word) => !starred.includes(word))
  const first = await texts.statistics(scope.tenant, 'memory', {
    terms: words,
    prefixes: [...starred, ...others.filter(isSpacelessCharacter).slice(0, PREFIXES_MOST)],
    beginnings: others.filter((word) => !isSpacelessCharacter(word) && isPrefix(word)).slice(0, PREFIXES_MOST),
    limit: PREFIX_TERMS,
  })
  const weights = new Map<string, number>()
  for (const { term, rows, prefix } of first.terms) {
    const idf = Math.log(1 + (first.rows - rows + 0.5) / (rows + 0.5))
    const weight = UNIT * idf * (BM25.k1 + 1) * (prefix === undefined || prefix === term ? 1 : BM25.prefixWeight)
    weights.set(term, Math.max(weights.get(term) ?? 0, weight))
  }
  const terms = [...weights]
    .map(([term, weight]) => ({ term, weight }))
    .sort((a, b) => b.weight - a.weight || (a.term < b.term ? -1 : 1))
    .slice(0, TERMS_MOST)
  return { terms, most: terms.reduce((sum, { weight }) => sum + weight, 0), average: Math.max(1, first.length / Math.max(1, first.rows)) }
}

/** Words of some length if they are unknown, and lone characters of scripts other than Latin. */
const isPrefix = (word: string): boolean =>
  word.length >= PREFIX_CHARS || ([...word].length === 1 && !/[\p{Script=Latin}\p{N}]/u.test(word))

/** The filter as marks and columns, so that it is applied before the pool is cut. */
export function pushedDown({ filter, now, replaced, untrue }: Question): TextFilter {
  const { about, tags, source, kinds, since, until, metadata } = filter
  return {
    ...(about && { about: about.map(aboutMark) }),
    with: [
      ...(tags ?? []).map((tag) => [tagMark(tag)]),
      ...(source ? sourceMarks(source).map((mark) => [mark]) : []),
      ...(kinds ? [kinds.map(kindMark)] : []),
      ...(metadata ?? []).map(([key, values]) => values.flatMap((value) => metadataMark(key, value) ?? [])),
    ],
    without: replaced ? [] : [SUPERSEDED],
    inside: since === undefined && until === undefined ? [] : [range('at', since, until)],
    outside: [range('expires', undefined, now + 1), ...(untrue ? [] : [range('ends', undefined, now + 1), range('starts', now + 1)])],
  }
}

const range = (column: string, from?: number, below?: number) => ({
  column,
  ...(from !== undefined && { from }),
  ...(below !== undefined && { below }),
})

interface ReadText {
  readonly row: MemoryRow
  readonly born: number
  readonly length: number
  readonly counts: ReadonlyMap<string, Counts>
}

type Counts = [text: number, tags: number, source: number]

/** Counts the terms that were asked for: one recall reads up to two thousand texts. */
function read(stored: StoredRow, asked: ReadonlySet<string>): ReadText {
  const row = decodeBody(stored.body, stored) as unknown as MemoryRow
  const counts = new Map<string, Counts>()
  if (row.state !== 'active' || row.text === undefined) return { row, born: stored.born, length: 0, counts }
  const words = indexTokensOf(row.text)
  for (const [part, terms] of [words, tagTerms(row), sourceTerms(row)].entries())
    for (const term of terms) {
      if (!asked.has(term)) continue
      const count: Counts = counts.get(term) ?? [0, 0, 0]
      count[part as 0 | 1 | 2]++
      counts.set(term, count)
    }
  return { row, born: stored.born, length: words.length, counts }
}

/** A text with its first and second neighbours. Those of the pool have passed the filter already. */
interface Beside {
  readonly text: ReadText
  readonly allowed: boolean
  readonly beside: readonly (readonly [neighbour: ReadText, share: number])[]
}

function withNeighbours(pool: readonly ReadText[], others: readonly ReadText[]): readonly Beside[] {
  const inPool = new Set(pool)
  return [...Map.groupBy([...pool, ...others], ({ row }) => row.thread)].flatMap(([thread, texts]) =>
    thread === undefined ? texts.map((text) => ({ text, allowed: true, beside: [] })) : besideEachOther(texts, inPool),
  )
}

/** The texts of one thread that are in the pool or beside one that is. */
function besideEachOther(texts: readonly ReadText[], inPool: ReadonlySet<ReadText>): readonly Beside[] {
  const inOrder = [...texts].sort((a, b) => a.born - b.born)
  return inOrder.flatMap((text, i) => {
    const allowed = inPool.has(text)
    const beside = BESIDE.flatMap(([by, share]) => {
      const other = inOrder[i + by]
      return other ? [[other, share] as const] : []
    })
    return allowed || beside.some(([other]) => inPool.has(other)) ? [{ text, allowed, beside }] : []
  })
}

function score(
  { row, born, length, counts }: ReadText,
  beside: Beside['beside'],
  query: TextQuery,
  average: number,
  most: number,
): Candidate {
  const besideLength = beside.reduce((sum, [text, share]) => sum + share * text.length, 0)
  const damped = BM25.neighbourBase + (BM25.neighbourLength * besideLength) / (3 * average)
  const met: string[] = []
  let [sum, tagged] = [0, false]
  for (const { term, weight } of query.terms) {
    const [text, tags, source] = counts.get(term) ?? [0, 0, 0]
    const around = beside.reduce((total, [other, share]) => total + share * (other.counts.get(term)?.[0] ?? 0), 0)
    const own = text / (query.lengthBase + query.lengthFactor * length) + tags * query.tagWeight + source * query.sourceWeight
    const f = own + (around === 0 ? 0 : (BM25.neighbourWeight * around) / damped)
    if (own > 0) met.push(term)
    if (tags > 0) tagged = true
    sum += Math.trunc((weight * f) / (f + query.k1))
  }
  const whole = tagged ? Math.trunc(sum * BM25.tagFactor) : sum
  return { row, born, score: whole / UNIT, calibrated: Math.min(1, whole / most), terms: met }
}
