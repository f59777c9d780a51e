// Makes text safe for a terminal. Models, tools and strangers wrote the journal, and it may contain escape sequences, so all of it is
// escaped before it is printed.

// Control characters, and invisible characters that reorder or hide text.
const HARMFUL = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Returns one line with every harmful character escaped. JSON text stays the same JSON. */
export const harmless = (text: string): string => text.replace(HARMFUL, (found) => found.split('').map(escaped).join(''))

/** JSON on one line, safe for a terminal. */
export const jsonLine = (value: unknown): string => harmless(JSON.stringify(value) ?? 'null')

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
const NO_WIDTH = /\p{Mn}|\p{Me}|\u200d|\ufe0f/u

const widthOf = (character: string): number => (character < '\u0300' ? 1 : NO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1)

/** Number of columns on a terminal. */
export function displayWidth(text: string): number {
  let width = 0
  for (const character of text) width += widthOf(character)
  return width
}

/** Cuts a text to this many columns, with an ellipsis. */
export function cut(text: string, columns: number): string {
  // The fast path for short lines. Longer ones are never measured beyond the bound.
  if (text.length <= columns && displayWidth(text) <= columns) return text
  let kept = ''
  let width = 0
  for (const character of text) {
    const next = widthOf(character)
    if (width + next > columns - 1) return `${kept}…`
    kept += character
    width += next
  }
  return kept
}

export const padEnd = (text: string, columns: number): string => text + ' '.repeat(Math.max(0, columns - displayWidth(text)))
export const padStart = (text: string, columns: number): string => ' '.repeat(Math.max(0, columns - displayWidth(text))) + text
