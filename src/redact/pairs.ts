// Finds secrets whose name stands beside them: `name: DB_PASSWORD` above `value: …`, `set('token', '…')`, `password: |` above the lines of
// the value, and `password '…'` in SQL.
import { spanOf } from './assignments.ts'
import { wordy } from './code.ts'
import type { KeyJudge } from './keys.ts'
import { absentValue, absentWord, innocentValue, passwordLike, random } from './looks.ts'
import type { Span } from './spans.ts'
import { ASSIGN, LINE, mentions, QUOTE, rare, rarely } from './survey.ts'
import type { Undecided } from './undecided.ts'

export function besideSpans(text: string, judge: KeyJudge, spans: Span[], traits: number, undecided?: Undecided): void {
  if ((traits & ASSIGN) !== 0) {
    pairSpans(text, judge, spans, undecided)
    if ((traits & LINE) !== 0) blockSpans(text, judge, spans, undecided)
  }
  if ((traits & QUOTE) === 0) return
  argumentSpans(text, judge, spans, undecided)
  if (text.includes("'")) identifiedSpans(text, spans, undecided)
}

// The searches begin with a literal, which V8 finds at memory speed.
const VALUE_KEY = /alue\\{0,3}["']?\s{0,4}[:=]\s{0,4}\\{0,3}/g
const NAME_BEFORE =
  /(?:\b|Parameter)(?:name|key)\\{0,3}["']?\s{0,4}[:=]\s{0,4}\\{0,3}["']?([A-Za-z_][\w.-]{1,62})\\{0,3}["']?\s{0,4},?(?:\s|\\n){0,64}\\{0,3}["']?(?:Parameter)?V$/i
const LONGEST_BEFORE = 192
const QUOTE_BEGUN = /(?:"[^"\\\n]{0,1024}|'[^'\\\n]{0,1024})$/y
const PAIR_VALUE = /(?:(["'])((?:(?!\1)[^\\\n]){1,1024})|([^\s"'\\,}\]]{1,1024}))/y

const VALUE = rarely('alue', new RegExp(VALUE_KEY.source))

function pairSpans(text: string, judge: KeyJudge, spans: Span[], undecided: Undecided | undefined): void {
  if (!mentions(text, VALUE)) return
  for (const hit of text.matchAll(VALUE_KEY)) {
    const name = NAME_BEFORE.exec(text.slice(Math.max(0, hit.index - LONGEST_BEFORE), hit.index))?.[1]
    const kind = name === undefined ? 'none' : judge(name)
    if (kind === 'none') continue
    const from = hit.index + hit[0].length
    PAIR_VALUE.lastIndex = from
    const found = PAIR_VALUE.exec(text)
    if (undecided !== undefined) {
      QUOTE_BEGUN.lastIndex = from
      if (QUOTE_BEGUN.test(text)) undecided(from + 1)
      else if (found?.[3] !== undefined && from + found[0].length === text.length) undecided(from)
    }
    if (found === null) continue
    const value = (found[2] ?? found[3]) as string
    if ((found[3] === undefined ? absentValue(value) : absentWord(value)) || (kind === 'text' && /^\d+\w?$/.test(value))) continue
    const span = spanOf(value, PAIR_VALUE.lastIndex - value.length, kind)
    if (span !== undefined) spans.push(span)
  }
}

const CLOSED = ['",', "',"]
const VALUE_BEGUN = /^[^\s"'`\\]{0,512}$/
const ARGUMENT = /^[^\s"'`\\]{8,512}$/
const NAME = /(["'`])(-{0,2}[A-Za-z_][\w.@+-]{1,62})$/
const LONGEST_NAME = 64
const MARK = /[!@#$%^&*+~]/

/** Two texts that follow each other may be anything, so the second must look like a secret. */
function argumentSpans(text: string, judge: KeyJudge, spans: Span[], undecided: Undecided | undefined): void {
  for (const closed of CLOSED) {
    for (let at = text.indexOf(closed); at >= 0; at = text.indexOf(closed, at + 2)) {
      const start = at + (text[at + 2] === ' ' ? 4 : 3)
      const quote = text[start - 1] as string
      if (quote !== '"' && quote !== "'") continue
      const closing = text.indexOf(quote, start)
      // The value, or the mark behind it, may still come.
      const begun = undecided !== undefined && (closing < 0 || closing === text.length - 1)
      const end = begun && closing < 0 ? text.length : closing
      // In JSON a key follows.
      if (!begun && (end - start < 8 || text[end + 1] === ':')) continue
      const name = NAME.exec(text.slice(Math.max(0, at - LONGEST_NAME), at))
      if (name === null || name[1] !== closed[0]) continue
      const kind = judge(name[2] as string)
      if (kind !== 'all' && kind !== 'text' && kind !== 'auth') {
        accountSpan(text, at - name[0].length, start, end, closing >= 0, spans, begun ? undecided : undefined)
        continue
      }
      const value = text.slice(start, Math.min(end, start + 600))
      const flag = (name[2] as string).startsWith('-')
      if (begun && VALUE_BEGUN.test(value)) undecided(start)
      if (closing < 0) continue
      if (!ARGUMENT.test(value) || innocentValue(value) || judge(value) !== 'none') continue
      if (random(value, 12) || (passwordLike(value) && (flag || MARK.test(value) || !wordy(value))))
        spans.push({ start, end: start + value.length, kind: 'key' })
    }
  }
}

const CALL =
  /(?<![\w$])(?:auth|[\w$.]{0,40}(?:auth|login|signin|credentials?|authentication|connect(?:ion)?))\s{0,2}[=:]?\s{0,2}(?:new\s)?\s{0,2}[([]\s{0,8}(?:["'][^"'\n]{1,80}["'],\s{0,4})?$/i
const LONGEST_CALL = 160

/** The password behind a user: `auth=("user", "…")`, `login('user', '…')`, and a pair alone if it is written as no word is. */
function accountSpan(text: string, user: number, start: number, end: number, whole: boolean, spans: Span[], undecided?: Undecided): void {
  const before = text[user - 1]
  if (before !== '(' && before !== ' ' && before !== '[') return
  const value = text.slice(start, Math.min(end, start + 600))
  if (undecided === undefined && (!ARGUMENT.test(value) || !passwordLike(value) || innocentValue(value))) return
  const called = CALL.test(text.slice(Math.max(0, user - LONGEST_CALL), user))
  const alone = before === '(' && !/[\w$]/.test(text[user - 2] ?? ' ')
  if (!called && !alone) return
  if (VALUE_BEGUN.test(value)) undecided?.(start)
  if (!whole || !ARGUMENT.test(value) || innocentValue(value) || !passwordLike(value)) return
  if (called || MARK.test(value) || (random(value, 12) && !/^[a-f0-9-]+$/i.test(value)))
    spans.push({ start, end: start + value.length, kind: 'key' })
}

const BLOCK = /^([ \t]{0,32})(?:- )?["']?([A-Za-z_][\w.-]{1,62})["']?:[ \t]{1,8}[|>][+-]?[ \t]{0,8}\r?$/gm

/** The lines of a block in YAML are indented deeper than its key. */
function blockSpans(text: string, judge: KeyJudge, spans: Span[], undecided: Undecided | undefined): void {
  if (!text.includes(': |') && !text.includes(': >')) return
  for (const hit of text.matchAll(BLOCK)) {
    const kind = judge(hit[2] as string)
    if (kind !== 'all' && kind !== 'text') continue
    const indent = (hit[1] as string).length
    for (let at = hit.index + hit[0].length + 1; at < text.length; ) {
      const stop = text.indexOf('\n', at)
      const end = stop < 0 ? text.length : stop
      const line = text.slice(at, end)
      const said = line.trim()
      const depth = line.length - line.trimStart().length
      if (said !== '' && depth <= indent) break
      if (stop < 0 && said !== '') undecided?.(at + depth)
      if (said !== '' && !absentValue(said)) spans.push({ start: at + depth, end: at + depth + said.length, kind: 'key' })
      at = end + 1
    }
  }
}

const SQL =
  /(?:password|identified\s{1,4}(?:with\s{1,4}\w{1,40}\s{1,4})?by(?:\s{1,4}password)?)\s{0,4}=?\s{0,4}\(?\s{0,4}'((?:[^'\n]|''){1,256})'/iy
const SQL_BEGUN =
  /(?:password|identified\s{1,4}(?:with\s{1,4}\w{1,40}\s{1,4})?by(?:\s{1,4}password)?)\s{0,4}=?\s{0,4}\(?\s{0,4}'((?:[^'\n]|''){0,256}'?)$/iy
const STATEMENT = /\b(?:create|alter|grant|set)\b[^;]*$/i
const NEAR = 240

/** Returns the password in quotes that a statement of SQL gives at this place. */
export function sqlSpan(text: string, at: number, undecided?: Undecided): Span | undefined {
  if (undecided !== undefined) {
    SQL_BEGUN.lastIndex = at
    const begun = SQL_BEGUN.exec(text)
    if (begun !== null) undecided(text.length - (begun[1] as string).length)
  }
  SQL.lastIndex = at
  const value = SQL.exec(text)?.[1]
  if (value === undefined || absentValue(value) || /\s/.test(value) || !STATEMENT.test(text.slice(Math.max(0, at - NEAR), at)))
    return undefined
  const end = SQL.lastIndex - 1
  return { start: end - value.length, end, kind: 'key' }
}

const IDENTIFIED = /identified\s|IDENTIFIED\s/g
const LOWER = rare('identified', String.raw`\s`)
const UPPER = rare('IDENTIFIED', String.raw`\s`)

function identifiedSpans(text: string, spans: Span[], undecided: Undecided | undefined): void {
  if (!mentions(text, LOWER) && !mentions(text, UPPER)) return
  for (const hit of text.matchAll(IDENTIFIED)) {
    const span = sqlSpan(text, hit.index, undecided)
    if (span !== undefined) spans.push(span)
  }
}
