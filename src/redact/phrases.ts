// Finds secrets that a sentence or a command line announces: `Bearer …`, `the password is …`, `--token …`, `curl -u user:…`.
import { jumbled, wordy } from './code.ts'
import { closingMarks, MARKS_BEFORE_WORD, marksAround } from './emphasis.ts'
import type { KeyJudge } from './keys.ts'
import { absentWord, basicPair, innocentValue, passwordLike, random, scrambled, UUID } from './looks.ts'
import { sqlSpan } from './pairs.ts'
import { isPlaceholder, withoutPlaceholders } from './placeholder.ts'
import type { Span } from './spans.ts'
import { type Met, nextName } from './spoken-names.ts'
import { isWide, type Undecided } from './undecided.ts'
import { SPOKEN_GLUE, SPOKEN_OTHER } from './words.ts'

/**
 * One word of a sentence, without surrounding quotes and punctuation. Characters of scripts without spaces are words of their own: they begin
 * and end beside the others.
 */
const NEXT = new RegExp(
  `(?:[ \\t]{1,4}|(?<=[\\u0e00-\\uffff])|(?=[\\u0e00-\\uffff]))${MARKS_BEFORE_WORD}["'\`(<]{0,2}([^\\s"'\`<>()\\\\\\u0e00-\\uffff]{1,512}|[\\u0e00-\\uffff]{1,512})`,
  'y',
)
/** The rest of a word behind a bracket in it: of a call, of `(s)`, or of a password. */
const REST = /[()][^\s"'`<>\\\u0e00-\uffff]{0,256}/y
const AHEAD = 5
const MARKS = '.,;:!?'
const SENTENCE_ENDS = '.!?;。！？；'

/** Returns whether the text has the letters of `password` or `pass:`. */
export function phraseSpans(text: string, spans: Span[], undecided?: Undecided): boolean {
  const met: Met = { pass: false }
  for (let hit = nextName(text, 0, met); hit !== undefined; hit = nextName(text, hit.end, met)) {
    let at = hit.end
    const inSql = text.charCodeAt(at - 1) === 100 || text.charCodeAt(at - 1) === 68 ? sqlSpan(text, hit.start, undecided) : undefined
    if (inSql !== undefined) spans.push(inSql)
    at = closingMarks(text, at)
    if (text[at] === ':' || text[at] === '=') at++
    if (!isBlank(text.charCodeAt(at))) continue
    const said = text.slice(hit.start, hit.end)
    const name = said.toLowerCase()
    // `ENV API_KEY …` needs no verb.
    let glue = /^[A-Z_]+$/.test(said) && (name.includes('_') || text[hit.start - 1] === '_')
    for (let n = 0; n < AHEAD; n++) {
      NEXT.lastIndex = at
      const next = NEXT.exec(text)
      if (next === null) break
      const written = next[1] as string
      const plain = withoutMarks(written)
      const marks = marksAround(plain, 0, plain.length)
      const word = marks === 0 ? plain : plain.slice(marks, -marks)
      const start = at + next[0].length - written.length + marks
      at += next[0].length
      // A password may go on behind a bracket, but a word of a sentence, or a call, ends there.
      const end = glue || n === 0 ? restEnd(text, at) : at
      if (end === text.length && !isWide(text.charCodeAt(start))) undecided?.(start)
      // The secret of this name was masked before.
      if (word.startsWith('[redacted:') && isPlaceholder(word)) break
      const whole = end === at ? '' : withoutClosing(text.slice(start, end))
      if (whole.length > word.length && announced(name, withoutPlaceholders(whole), n, glue, quoted(text, start))) {
        spans.push({ start, end: start + whole.length, kind: 'key' })
        break
      }
      if (
        (name === 'basic' || couldBeSecret(word, glue || n === 0)) &&
        text[at] !== '(' &&
        announced(name, withoutPlaceholders(word), n, glue, quoted(text, start))
      ) {
        spans.push({ start, end: start + word.length, kind: name === 'bearer' || name === 'basic' ? name : 'key' })
        break
      }
      if (n === 0 && SPOKEN_OTHER.has(word.toLowerCase())) break
      glue = SPOKEN_GLUE.has(word.toLowerCase()) || (written.endsWith(':') && !/^(?:token|key)/.test(name))
      // The end of a sentence ends its subject.
      if (SENTENCE_ENDS.includes(written.at(-1) as string)) break
    }
  }
  return met.pass
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9
}

function withoutMarks(word: string): string {
  let end = word.length
  while (end > word.length - 3 && end > 0 && MARKS.includes(word[end - 1] as string)) end--
  return word.slice(0, end)
}

function restEnd(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code !== 40 && code !== 41) return at
  REST.lastIndex = at
  return REST.test(text) ? REST.lastIndex : at
}

/** Without the marks of the sentence, and without a bracket that was opened before the word. */
function withoutClosing(written: string): string {
  let word = withoutMarks(written)
  let open = 0
  for (const char of word) open += char === '(' ? 1 : char === ')' ? -1 : 0
  for (; open < 0 && word.endsWith(')'); open++) word = withoutMarks(word.slice(0, -1))
  return word
}

/** A word without a digit or a mark is a secret only if it is long. Most words end here. */
function couldBeSecret(word: string, said: boolean): boolean {
  if (word.length < 6) return false
  if (word.length >= 20) return true
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at)
    if (code < 65 ? code !== 45 && code !== 46 : code === 94 || code >= 123 || code === 91) return true
  }
  return said && jumbled(word)
}

function quoted(text: string, start: number): boolean {
  return QUOTES.includes(text.charAt(start - 1))
}

const QUOTES = '"\'`'

/** Whether a word behind a name is the secret: by what the sentence says, or because no other word is written like this. */
function announced(name: string, word: string, n: number, glue: boolean, quoted: boolean): boolean {
  if (secretWord(name, word, n, glue)) return true
  // `Use the password "…"`, `with password …`.
  if (n > 0 || glue || !/^pass/.test(name) || word.length < 8 || word.length > 64 || innocentValue(word) || wordy(word)) return false
  return passwordLike(word) && (quoted || /^(?=.*[a-z])(?=.*[A-Z])[^-/]+$/.test(word))
}

function secretWord(name: string, word: string, n: number, glue: boolean): boolean {
  if (innocentValue(word)) return false
  if (name === 'bearer') return n === 0 && word.length >= 8 && /^[A-Za-z0-9._~+/=-]+$/.test(word) && (/\d/.test(word) || word.length >= 24)
  if (name === 'basic') return n === 0 && word.length >= 8 && basicPair(word)
  // A path, an address or a named digest is not the secret itself.
  if (/^[\w.+-]{1,10}:|:\/\/|^sha\d/.test(word) || (/\.[a-z]{1,4}$/.test(word) && wordy(word)) || (word.includes('/') && !random(word, 30)))
    return false
  const many = name.startsWith('key') || name === 'webhook'
  if (word.length >= 20 && word.length <= 256 && !UUID.test(word) && random(word.replace(/[-.][a-z]{1,12}$/, ''), 20)) return !many || glue
  // `das Kennwort für den Server ist …`: what the password is for may stand before the verb.
  if (!glue || many || n > (/^(?:pass|kennwort)/.test(name) ? 4 : 2)) return false
  if (scrambled(word) || (word.length >= 16 && word.length <= 256 && random(word, 12))) return !UUID.test(word)
  return passwordLike(word) && !/^[\d.,]+[a-z%]{0,3}$|^v?\d+[.-]|\.$|^[A-Za-z]+[-_]\d{1,4}$/.test(word)
}

const FLAG =
  /(?<![\w-])--?([A-Za-z][\w-]{1,60}) {1,3}(["']?)((?:-(?=[^\s"'\\]{0,64}[A-Z])(?=[^\s"'\\]{0,64}\d)(?=[^\s"'\\]{11}))?[^\s"'\\-][^\s"'\\]{0,511})/g
const USER = /(?<![\w-])(?:-u|-U|--user|--proxy-user)(?: {0,2}|=)["']?([^\s:"']{1,128}):["']?([^\s"'\\]{1,256})/g
const SHORT_FLAG = / -[paPw]/
const USER_FLAG = /-(?:[uU]|-user|-proxy-user)/
const SHORT =
  /\b(?:mysql|mysqldump|mysqladmin|mariadb|sshpass|docker login|redis-cli|mongosh|mongodump|mongorestore|az login|ldapsearch|ldapmodify|sqlcmd|zip|unzip|7z[az]?|(?:un)?rar)\b[^\n|;]{0,160}? (?:-p|-a|-P|-w) {0,1}["']?([^\s"'\\-][^\s"'\\]{2,128})/g

/** The characters at the end of the text that a command with a short option is looked for in. */
const COMMAND_CHARS = 480
const VALUE_BEGUN =
  /((?:\bpass(?:in|out)?[ \t]{1,4}pass:|\b(?:mysql|mysqldump|mysqladmin|mariadb|sshpass|docker login|redis-cli|mongosh|mongodump|mongorestore|az login|ldapsearch|ldapmodify|sqlcmd|zip|unzip|7z[az]?|(?:un)?rar)\b[^\n|;]{0,160}? (?:-p|-a|-P|-w) {0,1})["']?)[^\s"'\\]{0,129}$/
/** More of a command decides whether a word behind an option is its value. */
const TAIL = /^\s{0,8}$/

export function commandSpans(text: string, judge: KeyJudge, spans: Span[], pass: boolean, undecided?: Undecided): void {
  if (undecided !== undefined) {
    const from = Math.max(0, text.length - COMMAND_CHARS)
    const begun = VALUE_BEGUN.exec(text.slice(from))
    if (begun !== null) undecided(from + begun.index + (begun[1] as string).length)
  }
  for (const hit of text.matchAll(FLAG)) {
    const value = hit[3] as string
    const kind = judge(hit[1] as string)
    if (kind === 'none' || kind === 'cookie' || kind === 'mixed') continue
    const end = hit.index + hit[0].length
    if (undecided !== undefined && TAIL.test(text.slice(end, end + 9))) undecided(end - value.length)
    if (absentWord(value)) continue
    if ((kind === 'text' && /^\d+$/.test(value)) || (value.startsWith('-') && !random(value, 12))) continue
    // `use --password to log in` is prose. A value in quotes, with digits, or last in its command is not.
    if (hit[2] === '' && !passwordLike(value) && !/^\s*(?:$|\n|\\|-|[|&;>])/.test(text.slice(end, end + 8))) continue
    spans.push({ start: end - value.length, end, kind: 'key' })
  }
  if (USER_FLAG.test(text) && /\bcurl\b|\bhttp\b|\bwget\b/.test(text)) {
    for (const hit of text.matchAll(USER)) {
      const end = hit.index + hit[0].length
      if (end === text.length) undecided?.(end - (hit[2] as string).length)
      push(hit, 2, spans, /^\d+$/.test(hit[1] as string) && /^\d+$/.test(hit[2] as string))
    }
  }
  if (pass && text.includes('pass:')) for (const hit of text.matchAll(OPENSSL)) push(hit, 1, spans, false)
  if (!SHORT_FLAG.test(text)) return
  for (const hit of text.matchAll(SHORT)) push(hit, 1, spans, /^\d{2,5}(?::\d+)?$/.test(hit[1] as string))
}

function push(hit: RegExpExecArray, group: number, spans: Span[], innocent: boolean): void {
  const value = hit[group] as string
  const end = hit.index + hit[0].length
  if (!innocent && !absentWord(value)) spans.push({ start: end - value.length, end, kind: 'key' })
}

const OPENSSL = /\bpass(?:in|out)?[ \t]{1,4}pass:([^\s"'\\]{3,128})/g

const FORM_BEGUN = /name="([^"\r\n]{1,64})"(?:\r?\n){2}([^\r\n]{1,1024})$/
const FORM_CHARS = 1200
const FORM = /name="([^"\r\n]{1,64})"(?:\r?\n){2}([^\r\n]{1,1024})/g

/** A field of a multipart form has its value two lines below its name. */
export function formSpans(text: string, judge: KeyJudge, spans: Span[], undecided?: Undecided): void {
  const begun = undecided && FORM_BEGUN.exec(text.slice(-FORM_CHARS))
  if (begun && judge(begun[1] as string) !== 'none') undecided(text.length - (begun[2] as string).length)
  for (const hit of text.matchAll(FORM)) push(hit, 2, spans, judge(hit[1] as string) === 'none')
}
