// The logger of a store that was opened without one: warnings and errors go to console.warn, each as one line.

import type { Logger } from './ports/environment.ts'

const VALUE_CHARS = 300
const LINE_CHARS = 2000
// A background task that fails fails again and again.
const REPEATED_MS = 60_000
const REMEMBERED = 1000

// Raw control characters could forge lines or move the cursor.
const CONTROL = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu
const PLAIN = /^[^\s"=\\]+$/

/** The same line is written once a minute. */
export function consoleLogger(monotonic: () => number): Logger {
  const written = new Map<string, number>()
  const write: Logger['warn'] = (message, details) => {
    const line = lineOf(message, details)
    const now = monotonic()
    if (now - (written.get(line) ?? -Infinity) < REPEATED_MS) return
    if (written.size >= REMEMBERED) written.clear()
    written.set(line, now)
    console.warn(line)
  }
  return { info: () => {}, warn: write, error: write }
}

function lineOf(message: string, details: Readonly<Record<string, unknown>> = {}): string {
  const told = Object.entries(details).flatMap(([name, value]) => (value === undefined ? [] : `${name}=${valueText(value)}`))
  return cut(`inkfast: ${oneLine(message)}${told.length > 0 ? `: ${told.join(' ')}` : ''}`, LINE_CHARS)
}

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  const short = oneLine(cut(text, VALUE_CHARS))
  return PLAIN.test(short) ? short : `"${short.replaceAll('"', "'")}"`
}

const oneLine = (text: string): string => text.replace(CONTROL, ' ')

const cut = (text: string, chars: number): string => (text.length <= chars ? text : `${text.slice(0, chars).toWellFormed()}…`)
