// Finds secrets in tables of Markdown: the cells of a column that is named `password`, and the cell beside that name.
import type { KeyJudge } from './keys.ts'
import { absentWord, passwordLike, random, UUID } from './looks.ts'
import type { Range } from './placeholder.ts'
import type { Span } from './spans.ts'
import type { Undecided } from './undecided.ts'
import type { KeyKind } from './words.ts'

/** The line below the names of the columns. */
const RULE = /\|[ \t]{0,8}:?-{2,64}:?[ \t]{0,8}\|[ \t|:-]{0,512}\r?(?=\n|$)/y
const LONGEST_LINE = 4096
const LONGEST_NAME = 64
const LONGEST_VALUE = 256
const MARKS = ' \t\r`*_'

/** Every line of such a table begins with a bar. Each line is read once, with the columns that were named above it. */
export function tableSpans(text: string, judge: KeyJudge, spans: Span[], undecided?: Undecided): void {
  let named: Map<number, KeyKind> | undefined
  // The first cell of the table that stands below a name. The next row needs the names, so the table is held from there until it ends.
  let first: number | undefined
  for (let at = text.startsWith('|') ? 0 : text.indexOf('\n|') + 1; text[at] === '|'; ) {
    if (isRule(text, at)) named = columnsAbove(text, at, judge, named)
    else {
      if (named) first ??= columnSpans(text, at, named, spans)
      rowSpans(text, at, judge, spans, undecided)
    }
    const end = text.indexOf('\n', at)
    if (end < 0 || end + 1 === text.length) {
      if (first !== undefined) undecided?.(first)
      return
    }
    at = end + 1
    if (text[at] === '|') continue
    named = undefined
    first = undefined
    at = text.indexOf('\n|', at) + 1 || text.length
  }
}

function isRule(text: string, at: number): boolean {
  let from = at + 1
  while (text.charCodeAt(from) === 32) from++
  if (text.charCodeAt(from) !== 45 && text.charCodeAt(from) !== 58) return false
  RULE.lastIndex = at
  return RULE.test(text)
}

/** The columns that are named above a rule, and those that were named before in the same table. */
function columnsAbove(text: string, rule: number, judge: KeyJudge, named = new Map<number, KeyKind>()): Map<number, KeyKind> | undefined {
  const head = rule < 2 ? rule : text.lastIndexOf('\n', rule - 2) + 1
  for (const [n, cell] of cells(text, head, Math.max(head, rule - 1)).entries()) {
    const kind = kindOf(text, cell, judge)
    if (kind !== 'none') named.set(n, kind)
  }
  return named.size > 0 ? named : undefined
}

/** Reads the cells of these columns in one row. Returns where the first of them stands. */
function columnSpans(text: string, at: number, named: ReadonlyMap<number, KeyKind>, spans: Span[]): number | undefined {
  let first: number | undefined
  const stop = text.indexOf('\n', at)
  for (const [n, cell] of cells(text, at, stop < 0 ? text.length : stop).entries()) {
    const kind = named.get(n)
    if (kind === undefined) continue
    first ??= cell.start
    push(text, cell, kind, spans)
  }
  return first
}

/** Reads a line whose first cell names what the second holds. */
function rowSpans(text: string, at: number, judge: KeyJudge, spans: Span[], undecided?: Undecided): void {
  const bar = text.indexOf('|', at + 1)
  if (bar < 0 || bar - at > LONGEST_NAME) return
  const last = undecided !== undefined && !text.includes('\n', bar)
  if (!last && !mayBeSecret(text, bar + 1)) return
  const next = text.indexOf('|', bar + 1)
  const cell = inner(text, bar + 1, next < 0 ? text.length : next)
  const kind = kindOf(text, inner(text, at + 1, bar), judge)
  if (kind === 'none') return
  if (next >= 0) push(text, cell, kind, spans)
  if (last && cell.end - cell.start <= LONGEST_VALUE) undecided(cell.start)
}

/** Whether one word of some length is all that a cell holds. Most cells of a table are sentences. */
function mayBeSecret(text: string, from: number): boolean {
  let at = from
  while (text.charCodeAt(at) === 32) at++
  const start = at
  while (at < start + LONGEST_VALUE && text.charCodeAt(at) > 32 && text.charCodeAt(at) !== 124) at++
  if (at - start < 6) return false
  while (text.charCodeAt(at) === 32) at++
  return text.charCodeAt(at) === 124
}

function push(text: string, { start, end }: Range, kind: KeyKind, spans: Span[]): void {
  if (end - start < 6 || end - start > LONGEST_VALUE) return
  const value = text.slice(start, end)
  if (/\s/.test(value) || absentWord(value) || UUID.test(value)) return
  // A column of tokens lists words of a language, too.
  if (random(value, 16) || (kind === 'all' && passwordLike(value))) spans.push({ start, end, kind: 'key' })
}

/** What a cell names, if it is the name of a secret. */
function kindOf(text: string, { start, end }: Range, judge: KeyJudge): KeyKind {
  if (end - start > LONGEST_NAME || end - start < 2) return 'none'
  const kind = judge(text.slice(start, end))
  return kind === 'all' || kind === 'text' ? kind : 'none'
}

/** The cells of a line without the marks around their texts. A line without a bar has one. */
function cells(text: string, start: number, end: number): Range[] {
  const out: Range[] = []
  if (end - start > LONGEST_LINE) return out
  let from = start
  while (from < end && ' \t'.includes(text[from] as string)) from++
  if (text[from] === '|') from++
  while (from < end) {
    let stop = text.indexOf('|', from)
    if (stop < 0 || stop > end) stop = end
    out.push(inner(text, from, stop))
    from = stop + 1
  }
  return out
}

/** A cell without the spaces and marks around its text. */
function inner(text: string, from: number, to: number): Range {
  let [start, end] = [from, to]
  while (start < end && MARKS.includes(text[start] as string)) start++
  while (end > start && MARKS.includes(text[end - 1] as string)) end--
  return { start, end }
}
