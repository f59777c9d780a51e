// A first scan of a text that tells which rules could find anything. Most texts end here, so this is the main cost of the redactor. The
// numbers were measured on Node 24.
import { hasLongWord } from './tokens.ts'

/** An unbroken word of 16 characters or more. */
export const LONG = 1
/** Several words, with a digit or a long word among them. */
export const PHRASE = 2
export const ASSIGN = 4
export const AT = 8
/** A word that begins with a dash. */
export const OPTION = 16
export const ELEMENT = 32
export const PERCENT = 512
export const BRACE = 1024
export const LINE = 2048
/** A pipe or a here document. */
export const PIPE = 4096
export const SLASH = 8192
export const QUOTE = 16384
/** The letters of `password`, `chpasswd` or `pass:`. The rule for sentences meets them, so no search of its own is needed. */
export const PASS = 32768
/** An option of a command. The rules for options meet it, so no search of its own is needed. */
export const COMMAND = 65536

const WORD = 64
const DIGIT = 128
const SPACE = 256
const CLASS = new Uint16Array(128)
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_') CLASS[char.charCodeAt(0)] = WORD
for (const char of '0123456789') CLASS[char.charCodeAt(0)] = WORD | DIGIT
for (const char of ':=') CLASS[char.charCodeAt(0)] = ASSIGN
for (const char of ' \t') CLASS[char.charCodeAt(0)] = SPACE
CLASS[45] = WORD | OPTION
CLASS[64] = AT
CLASS[60] = ELEMENT | PIPE
CLASS[124] = PIPE
CLASS[47] = SLASH
CLASS[37] = PERCENT
CLASS[123] = BRACE
CLASS[10] = LINE
CLASS[34] = QUOTE
CLASS[39] = QUOTE

const PLUS = 43
const CAPITAL_A = 65
const SMALL_O = 111
const CAPITAL_T = 84
/** Up to this length one loop over the characters is faster than the calls that would replace it. */
export const SHORT = 160
const DIGITS = /\d/

/** The full-width forms that Chinese and Japanese texts use. */
export const WIDE_COLON = '\uff1a'
export const WIDE_EQUALS = '\uff1d'

export function hasWideMarks(text: string): boolean {
  return text.includes(WIDE_COLON) || text.includes(WIDE_EQUALS)
}

function wide(code: number): number {
  return code === 0xff1a || code === 0xff1d ? ASSIGN : 0
}

export function survey(text: string): number {
  let found = text.length <= SHORT ? read(text) : ask(text)
  // The key of a webhook may have a sign every few letters, too.
  if ((found & LONG) === 0 && text.includes('whsec_')) found |= LONG
  if ((found & SPACE) !== 0 && (found & (LONG | DIGIT)) !== 0) found |= PHRASE
  return found
}

function read(text: string): number {
  let found = 0
  let length = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const kind = code < 128 ? (CLASS[code] as number) : wide(code)
    found |= kind
    // Keys of Azure may have a sign every few letters, and one of these marks: `+A`, `AIoT`.
    if ((code === PLUS && text.charCodeAt(at + 1) === CAPITAL_A) || (code === SMALL_O && text.charCodeAt(at + 1) === CAPITAL_T))
      found |= LONG
    if ((kind & WORD) === 0) length = 0
    else if (++length === 16) found |= LONG
  }
  return found
}

/** `indexOf` of one character runs at memory speed in V8, 10 to 50 times faster than a loop. */
function ask(text: string): number {
  return (
    SPACE |
    (hasLongWord(text) || text.includes('+A') || text.includes('AIoT') ? LONG : 0) |
    (text.includes(':') || text.includes('=') || hasWideMarks(text) ? ASSIGN : 0) |
    (text.includes('@') ? AT : 0) |
    (text.includes('-') ? OPTION : 0) |
    SLASH |
    (text.includes('<') ? ELEMENT | PIPE : 0) |
    (text.includes('|') ? PIPE : 0) |
    (text.includes('%') ? PERCENT : 0) |
    (text.includes('{') ? BRACE : 0) |
    (text.includes('\n') ? LINE : 0) |
    (text.includes('"') || text.includes("'") ? QUOTE : 0) |
    (DIGITS.test(text) ? DIGIT : 0)
  )
}

/** A word that only few texts have, so that its rule need not run. */
export interface Rare {
  readonly word: string
  readonly pattern: RegExp
}

/**
 * Whether a text contains the word. V8 compiles a pattern only if it is no plain word, and then finds it six times faster than `includes` in a
 * long text: hence `next`, which every text of the rule has behind the word. In a short text the call itself costs more.
 */
export function rare(word: string, next: string): Rare {
  return { word, pattern: new RegExp(word + next) }
}

/**
 * The same for a word that begins with a character which few texts have: V8 looks for that first, faster than for any pattern. `pattern`: what
 * is looked for in a long text instead.
 */
export function rarely(word: string, pattern: RegExp = new RegExp(word)): Rare {
  return { word, pattern }
}

export function mentions(text: string, { word, pattern }: Rare): boolean {
  return text.length <= SHORT ? text.includes(word) : pattern.test(text)
}
