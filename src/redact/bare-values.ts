// Finds where a value without quotes ends: `password=hunter2,user=bob`.
import { placeholderEnd } from './placeholder.ts'
import { isWideMark } from './undecided.ts'

/** The last value that was read. A later start inside it has the same end, so no text is read twice. */
export interface Word {
  start: number
  end: number
}

/** Spaces that may stand between a value and the end of its line. */
export const BLANKS = 8

const HARD = 1
const SOFT = 2
const STOPS = new Uint8Array(128)
for (const char of ' \t\r\n\f\v"\'`<>\\') STOPS[char.charCodeAt(0)] = HARD
for (const char of ',;&|)]}') STOPS[char.charCodeAt(0)] = SOFT

/** Returns the end of the value without the marks of a sentence behind it. `word` has its end with them. */
export function wordEnd(text: string, from: number, word: Word): number {
  if (from < word.start || from >= word.end) {
    word.start = from
    word.end = from
    while (word.end < text.length) {
      const code = text.charCodeAt(word.end)
      // A placeholder is one character of the word.
      const masked = code === 91 ? placeholderEnd(text, word.end) : -1
      if (masked >= 0) {
        word.end = masked
        continue
      }
      const stop = code < 128 ? (STOPS[code] as number) : isWideMark(code) ? HARD : 0
      if (stop === HARD || (stop === SOFT && endsField(text, word.end))) break
      word.end++
    }
  }
  let end = word.end
  while (end > from + 1 && '.,;:!?'.includes(text[end - 1] as string)) end--
  return end
}

/** Whether a value that ends here in the text at hand may go on, or whether more of its line decides if it is one. */
export function mayGoOn(text: string, end: number): boolean {
  if (end === text.length) return true
  // A soft stop ends the value only if more than it follows.
  if (end === text.length - 1 && STOPS[text.charCodeAt(end)] === SOFT) return true
  let after = end
  while (after < end + BLANKS && ' \t'.includes(text[after] ?? '\n')) after++
  return after === text.length
}

const FIELD = /[\s"'\\,;&|)\]}]|$|[\w.%-]{1,40} {0,2}[=:]/y

/** A comma or semicolon may be part of a password; it ends the value when a space, another mark or the next field follows. */
function endsField(text: string, at: number): boolean {
  FIELD.lastIndex = at + 1
  return FIELD.test(text)
}
