// Finds secrets in tables of Markdown: every cell of a column that is named `password`, and the cell beside one.
import type { KeyJudge } from './keys.ts'
import { absentWord, passwordLike, random, UUID } from './looks.ts'
import type { Range } from './placeholder.ts'
import type { Span } from './spans.ts'
import type { Undecided } from './undecided.ts'
import type { KeyKind } from './words.ts'

/** The line below the names of the columns. */
const RULE = /\n[ \t]{0,8}\|?[ \t]{0,8}:?-{2,64}:?[ \t]{0,8}\|[ \t|:-]{0,512}\r?(?=\n|$)/g
const LONGEST_LINE = 4096
const LONGEST_NAME = 64
const MARKS = ' \t\r`*_'

export function couldBeTable(text: string): boolean {
  return (
    text.includes('|-') ||
    text.includes('| -') ||
    text.includes('|:') ||
    text.includes('| :') ||
    text.includes('-|') ||
    text.includes('- |')
  )
}

export function tableSpans(text: string, judge: KeyJudge, spans: Span[], undecided?: Undecided): void {
  let read = 0
  for (const rule of text.matchAll(RULE)) {
    if (rule.index < read) continue
    const head = text.lastIndexOf('\n', rule.index - 1) + 1
    const named = new Map<number, KeyKind>()
    for (const [n, cell] of cells(text, head, rule.index).entries()) {
      const kind = kindOf(text, cell, judge)
      if (kind !== 'none') named.set(n, kind)
    }
    read = rowSpans(text, rule.index + rule[0].length + 1, text[head] === '|', named, judge, spans, undecided)
  }
}

/** Reads the rows below a rule and returns where they end. */
function rowSpans(
  text: string,
  from: number,
  barred: boolean,
  named: ReadonlyMap<number, KeyKind>,
  judge: KeyJudge,
  spans: Span[],
  undecided?: Undecided,
): number {
  let first: number | undefined
  let at = from
  while (at < text.length && (!barred || text[at] === '|')) {
    const stop = text.indexOf('\n', at)
    const end = stop < 0 ? text.length : stop
    const row = cells(text, at, end)
    if (row.length < 2) break
    for (const [n, cell] of row.entries()) {
      const kind = named.get(n) ?? (n === 0 ? 'none' : kindOf(text, row[n - 1] as Range, judge))
      if (kind === 'none') continue
      if (stop < 0 || named.has(n)) first ??= cell.start
      const value = text.slice(cell.start, cell.end)
      // A column of tokens lists words of a language, too.
      if (/\s/.test(value) || absentWord(value) || UUID.test(value)) continue
      if (random(value, 16) || (kind === 'all' && passwordLike(value))) spans.push({ start: cell.start, end: cell.end, kind: 'key' })
    }
    if (stop < 0) break
    at = end + 1
  }
  // The next row needs the names of the columns, so the table is held until it ends.
  if (first !== undefined && (at >= text.length || (text[at] === '|') === barred) && !text.includes('\n', at)) undecided?.(first)
  return at
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
    const cell = { start: from, end: stop }
    while (cell.start < cell.end && MARKS.includes(text[cell.start] as string)) cell.start++
    while (cell.end > cell.start && MARKS.includes(text[cell.end - 1] as string)) cell.end--
    out.push(cell)
    from = stop + 1
  }
  return out
}
