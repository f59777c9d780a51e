// Classifies a single word: random, a password, or a placeholder.
import { jumbled, wordy } from './code.ts'
import { isPlaceholder } from './placeholder.ts'
import { ABSENT_VALUES, INNOCENT_VALUES } from './words.ts'

/** A reference to a secret is not the secret: `$TOKEN`, `${{ secrets.X }}`, `process.env.KEY`, `<your key>`, `****`, `getKey()`. */
const REFERENCE =
  /^(?:\$\{|\$\(|\$env:|<[^>]{0,80}>?|\{\{(?!\w)|%[A-Za-z_]+%|[*•.xX_-]{3,}$|(?:process|os|env|import|config|settings|self|this|req|request|ctx|args|options|secrets|vars|var|data|local|ENV|Deno|Bun|System|params|user|credentials|body|props|state|row|await)[.[]|!Ref|!Sub|!vault|vault:|ENC\(|\[(?:REDACTED|FILTERED)(?:[ _:-][\w -]{0,40})?\]?$)/
/** The beginning of a call, a variable or a template. Passwords begin like this, too, so its words decide. */
const CALL = /^(?:[A-Za-z_$][\w$.]{0,60}(?:\(|\[(?!redacted:))|\{{1,2}[A-Za-z_]|\$[A-Za-z_])/
const LOOSE =
  /^(?:your|my|some|the|an?|example|sample|dummy|fake|test|insert|enter|changeme|change|replace|todo|placeholder|xxx)[-_ ](?:[a-z]+[-_ ])*(?:key|token|secret|password|here|value|goes|credential|me)[a-z_-]{0,20}$/i

export function innocentValue(value: string): boolean {
  if (generated(value)) return false
  return (
    value === '' ||
    (value.length <= 12 && (INNOCENT_VALUES.has(value.toLowerCase()) || ABSENT_VALUES.has(value.toLowerCase()))) ||
    REFERENCE.test(value) ||
    isPlaceholder(value) ||
    (CALL.test(value) && wordy(value)) ||
    (value.length < 60 && LOOSE.test(value))
  )
}

/** The same for a value that stands where no code can: a reference is one as a whole, and no call or member is meant. */
const ABSENT_WORD =
  /^(?:\$\{[^}]*\}{0,2}|\$\([^)]*\)?|\$(?:[A-Z_][A-Z0-9_]*|[a-z_][a-zA-Z_]*\d{0,2})|\$env:\w+|<[^<>]*>?|\{\{[^}]*\}{0,2}|\{[^{}]*\}|\{[A-Za-z_.]+|%[A-Za-z_]+%|[*•.xX_-]{3,}|…\W{0,3}|!(?:Ref|Sub|vault)\b.*|vault:[^\s]*|ENC\([^\s]*|\[(?:REDACTED|FILTERED)(?:[ _:-][\w -]{0,40})?\]?|(?:process\.env|os\.environ|import\.meta\.env|Deno\.env)\b.*)$/
const LONGEST_REFERENCE = 256
const NAMED_VALUE = /^(?:\$[a-z_]|\{[^{])/

/** Whether a word in a query, a form, a header, an address or a command says that there is no secret, or where it is kept. */
export function absentWord(value: string): boolean {
  if (generated(value)) return false
  return (
    value === '' ||
    (value.length <= 12 && (INNOCENT_VALUES.has(value.toLowerCase()) || ABSENT_VALUES.has(value.toLowerCase()))) ||
    (value.length <= LONGEST_REFERENCE && ABSENT_WORD.test(value) && (!NAMED_VALUE.test(value) || wordy(value))) ||
    isPlaceholder(value) ||
    (value.length < 60 && LOOSE.test(value))
  )
}

/** Whether a value is letters and digits only, with a digit among them. No reference or call is written like this. */
export function generated(value: string): boolean {
  if (value.length < 6 || value.length > 64) return false
  let digits = false
  for (let at = 0; at < value.length; at++) {
    const kind = charKind(value.charCodeAt(at))
    if (kind === 0) return false
    if (kind === DIGIT) digits = true
  }
  return digits && !(value.length === 6 && INNOCENT_VALUES.has(value.toLowerCase()))
}

const WHOLE_REFERENCE =
  /^(?:\$\{[^}]{0,200}\}|\$\([^)]{0,200}\)|\$[A-Z_][A-Z0-9_]*|<[^<>="']{0,80}>|\{\{[^}]{0,200}\}\}|[*•]{3,}|[xX]{3,}|[~^>=v]{0,2}\d{1,4}\.\d{1,4}\.\d{1,4}(?:-[\w.]{1,20})?|\.{3}|…|(?:process\.env|os\.environ|import\.meta)\b.{0,80}|\[(?:REDACTED|FILTERED|MASKED)\])$/

/** Whether a value in quotes or under a key says that there is no secret, or where it is kept. */
export function absentValue(value: string): boolean {
  return (
    value === '' ||
    (value.length <= 12 && ABSENT_VALUES.has(value.trim().toLowerCase())) ||
    (value.length <= 256 && WHOLE_REFERENCE.test(value))
  )
}

const DIGIT = 1
export const UPPER = 2
export const LOWER = 4

export function charKind(code: number): number {
  if (code >= 97 && code <= 122) return LOWER
  if (code >= 48 && code <= 57) return DIGIT
  return code >= 65 && code <= 90 ? UPPER : 0
}

/**
 * Whether letters and digits are mixed as only a generator mixes them. Between neighbours of a random base62 word the kind
 * changes at 62 % of the places, base36 at 40 %, hexadecimal at 47 %; slugs, identifiers and prose stay under 25 %.
 */
export function random(text: string, least: number, bar = 0.24): boolean {
  let size = 0
  let digits = 0
  let upper = 0
  let lower = 0
  let changes = 0
  let before = 0
  // A sample of 256 characters is enough.
  const end = Math.min(text.length, 256)
  for (let at = 0; at < end; at++) {
    const kind = charKind(text.charCodeAt(at))
    if (kind === 0) {
      before = 0
      continue
    }
    size++
    if (kind === DIGIT) digits++
    else if (kind === UPPER) upper++
    else lower++
    if (before !== 0 && before !== kind) changes++
    before = kind
  }
  if (size < least || upper + lower < 4) return false
  // Without digits, a word must differ clearly from camel case, which changes at a third of the places at most.
  const enough = upper >= 3 && lower >= 3 ? digits >= 2 || changes >= size * 0.42 : digits >= 3
  return enough && changes >= size * bar
}

/** Whether a short body behind a vendor's prefix could be generated: it has a digit, or changes case more often than camel case. */
export function loose(body: string): boolean {
  let changes = 0
  for (let at = 0; at < body.length; at++) {
    const kind = charKind(body.charCodeAt(at))
    if (kind === DIGIT) return true
    if (at > 0 && kind !== charKind(body.charCodeAt(at - 1))) changes++
  }
  return changes >= body.length * 0.3
}

const ONE_SMALL = /[A-Z][a-z](?=[A-Z])/g
const TWO_GREAT = /[a-z](?=[A-Z]{2})/g

/** Whether letters alone are mixed as in no name: camel case has neither single small letters nor many capitals in a row. */
export function scrambled(word: string): boolean {
  if (word.length < 16 || word.length > 64 || !/^[A-Za-z_-]+$/.test(word)) return false
  const small = word.match(ONE_SMALL)?.length ?? 0
  const great = word.match(TWO_GREAT)?.length ?? 0
  return small + great >= 3 || (small > 0 && great > 0)
}

/** Whether a word in a sentence could be a password: long enough, and not only letters, or no word at all. */
export function passwordLike(word: string): boolean {
  if (word.length < 6 || word.length > 256) return false
  let letters = 0
  let digits = 0
  let marks = 0
  for (let at = 0; at < word.length; at++) {
    const kind = charKind(word.charCodeAt(at))
    if (kind === DIGIT) digits++
    else if (kind !== 0) letters++
    else if ('!@#$%^&*+~'.includes(word[at] as string)) marks++
  }
  return letters > 0 && (digits > 0 || marks > 0 || jumbled(word))
}

/** An opening bracket begins a structure, unless it is the bracket of a mask. */
const BRACKET = /^(?!\[(?:redacted:|REDACTED\]|FILTERED\]))[[{(]/
const MEMBER = /^[A-Za-z_$][\w$]{0,64}(?:\.[A-Za-z_$][\w$]{0,64}){1,8}$/

/** A structure, member or type is code if it is made of words. Where no code can stand, a member is none. */
export function structure(value: string, plain: boolean): boolean {
  return (BRACKET.test(value) || (!plain && MEMBER.test(value))) && wordy(value)
}

export const UUID = /[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}/

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Encodes bytes as base64, because the pure rooms have no such function. */
export function base64(bytes: Uint8Array): string {
  let out = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const word = ((bytes[at] as number) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
    out += (ALPHABET[word >> 18] as string) + ALPHABET[(word >> 12) & 63]
    out += at + 1 < bytes.length ? ALPHABET[(word >> 6) & 63] : '='
    out += at + 2 < bytes.length ? ALPHABET[word & 63] : '='
  }
  return out
}

/** Whether a base64 word decodes to `user:password`: printable ASCII only, with a colon. */
export function basicPair(word: string): boolean {
  let bits = 0
  let held = 0
  let colon = false
  const end = Math.min(word.length, 256)
  for (let at = 0; at < end; at++) {
    const value = ALPHABET.indexOf(word[at] as string)
    if (value < 0) return colon && word[at] === '='
    held = ((held << 6) | value) & 0xffff
    bits += 6
    if (bits < 8) continue
    bits -= 8
    const byte = (held >> bits) & 0xff
    if (byte < 32) return false
    if (byte === 58) colon = true
  }
  return colon
}
