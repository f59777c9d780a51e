// The end of a text that is still coming: the part of it that may be the beginning of a secret. Every rule tells where such a beginning
// stands, and everything before it can be shown.

/** Called with a place from which the text may become a secret, depending on the text that follows. */
export type Undecided = (start: number) => void

const RUN = new Uint8Array(128)
// Letters, digits and marks of keys, tokens, addresses and web tokens. `!`, `|` and `@` join the parts of a few keys.
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.:+/=$%~!|@') RUN[char.charCodeAt(0)] = 1

/** Returns where the run of characters of keys begins that ends at `end`. Nothing else may become a secret by its shape. */
export function runStart(text: string, from: number, end: number): number {
  let at = end
  while (at > from && RUN[text.charCodeAt(at - 1)] === 1) at--
  return at
}

/** The first character of the scripts that are written without spaces; punctuation and full-width forms stand behind them. */
const WIDE = 0x0e00

/**
 * Thai, Chinese, Japanese, their marks, typographic quotes and emoji. No key is written with them, so a word that could be one ends at them.
 */
export function isWide(code: number): boolean {
  return code >= WIDE
}

/** Punctuation of these scripts, and typographic marks: they end a value without quotes, as a space does. */
export function isWideMark(code: number): boolean {
  return (
    (code >= 0x2010 && code <= 0x205e) ||
    (code >= 0x3000 && code <= 0x301f) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff01 && code <= 0xff0f) ||
    (code >= 0xff1a && code <= 0xff20) ||
    (code >= 0xff3b && code <= 0xff40) ||
    (code >= 0xff5b && code <= 0xff65)
  )
}

const OPENING_MARKS = '“‘„「『《〈【〔（'

/** Whether a value may begin behind this mark. */
export function opensValue(char: string | undefined): boolean {
  return char !== undefined && OPENING_MARKS.includes(char)
}
