// Prints everything about one thing, one line per label. Lines are cut to the terminal's width; a pipe gets them whole.

import type { Style, Terminal } from './terminal.ts'
import { cut, displayWidth, harmless, jsonLine, padEnd } from './text.ts'

const LABEL = 10
const MOST_LINES = 24

export interface Facts {
  /** Prints nothing if the text is undefined. */
  line(label: string, text: string | undefined, style?: Style): void
  /** Prints JSON on one line if it fits, otherwise indented below its label. */
  json(label: string, value: unknown): void
}

export function facts(t: Terminal): Facts {
  const label = (text: string) => t.paint('dim', `${padEnd(text, LABEL - 1)} `)
  const line: Facts['line'] = (name, text, style) => {
    if (text === undefined || text === '') return
    const said = t.width === undefined ? harmless(text) : cut(harmless(text), t.width - LABEL)
    t.out(`${label(name)}${style ? t.paint(style, said) : said}`)
  }
  const json: Facts['json'] = (name, value) => {
    if (value === undefined) return
    const flat = jsonLine(value)
    const { width } = t
    if (width === undefined || displayWidth(flat) <= width - LABEL) {
      line(name, flat)
      return
    }
    t.out(t.paint('dim', name))
    const spread = JSON.stringify(value, null, 2).split('\n')
    for (const one of spread.slice(0, MOST_LINES)) t.out(cut(`  ${harmless(one)}`, width))
    if (spread.length > MOST_LINES) t.out(t.paint('dim', `  … and ${spread.length - MOST_LINES} more lines; --json prints all`))
  }
  return { line, json }
}
