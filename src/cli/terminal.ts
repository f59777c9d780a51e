// The output of a command: results on stdout, everything else on stderr, colours only on a terminal. Only this file reads the environment.

import { once } from 'node:events'
import { harmless } from './text.ts'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

export interface Terminal {
  readonly json: boolean
  /** Width to which lines are cut; `undefined` if stdout is not a terminal. */
  readonly width: number | undefined
  /** Whether stderr is a terminal. */
  readonly watched: boolean
  /** Aborted by Ctrl-C, by SIGTERM, and when the reader of stdout is gone. */
  readonly signal: AbortSignal
  out(line: string): void
  /** Writes a line to stderr. */
  note(line: string): void
  /** Writes to stderr without a line end, to be overwritten. */
  status(text: string): void
  /** Resolves when stdout accepts more. */
  room(): Promise<void>
  paint(style: Style, text: string): string
}

const CODES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 }

const ON: readonly string[] = ['1', 'true', 'yes', 'on']
const OFF: readonly string[] = ['', '0', 'false', 'no', 'off']

/** Reads a boolean in any case. Returns undefined for a word that is neither. */
export function readSwitch(text = ''): boolean | undefined {
  const word = text.trim().toLowerCase()
  return ON.includes(word) ? true : OFF.includes(word) ? false : undefined
}

const SWITCHES = ['INKFAST_DATABASE_REQUIRED', 'INKFAST_DEBUG'] as const

/** Says which boolean variable has a word that is neither true nor false. Undefined if all are clear. */
export function unclearSwitch(variables: NodeJS.ProcessEnv = process.env): string | undefined {
  const name = SWITCHES.find((one) => readSwitch(variables[one]) === undefined)
  return name && `Invalid ${name}: expected 1, true, yes, on, 0, false, no or off, got '${variables[name]}'. Nothing was opened.`
}

export const environment = {
  /** The default store. */
  url: process.env.INKFAST_URL || undefined,
  /** The key that signs tenants of a database, needed if the login may not read it. */
  tenantKey: process.env.INKFAST_TENANT_KEY || undefined,
  /** The key of the server that embeds texts. */
  embedderKey: process.env.INKFAST_EMBEDDER_KEY || undefined,
  /** Refuses any store but the database itself. */
  databaseRequired: readSwitch(process.env.INKFAST_DATABASE_REQUIRED) === true,
  debug: readSwitch(process.env.INKFAST_DEBUG) === true,
  noColour: (process.env.NO_COLOR ?? '') !== '' || process.env.TERM === 'dumb',
}

const LEAST_WIDTH = 40
// Equals EXIT.unexpected; repeated here, because exit.ts is about stores and this file about streams.
const UNWRITTEN = 6

export interface Stops {
  readonly signal: AbortSignal
  /** The cause of the stop: the reader of stdout is gone, or the number of a signal. */
  readonly reason: () => 'unread' | number | undefined
}

/** Stops the command in order on a signal, so that the store is closed and no side files are left. */
export function listenForStops(): Stops {
  const stop = new AbortController()
  let reason: 'unread' | number | undefined
  const end = (why: 'unread' | number) => {
    // The second Ctrl-C exits at once.
    if (reason !== undefined && why !== 'unread') process.exit(128 + Number(why))
    reason ??= why
    stop.abort()
  }
  process.on('SIGINT', () => end(2))
  process.on('SIGTERM', () => end(15))
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return end('unread')
    process.stderr.write(`inkfast: What was found could not be written (${error.code}). Check the disk or the file stdout goes to.\n`)
    process.exit(UNWRITTEN)
  })
  process.stderr.on('error', () => {})
  return { signal: stop.signal, reason: () => reason }
}

export function terminal(json: boolean, signal: AbortSignal): Terminal {
  const { stdout, stderr } = process
  const coloured = stdout.isTTY === true && !environment.noColour && !json
  return {
    json,
    width: stdout.isTTY ? Math.max(LEAST_WIDTH, stdout.columns || 80) : undefined,
    watched: stderr.isTTY === true,
    signal,
    out: (line) => {
      if (!stdout.destroyed) stdout.write(`${line}\n`)
    },
    note: (line) => void stderr.write(`${line}\n`),
    status: (text) => void stderr.write(text),
    room: async () => {
      if (!stdout.writableNeedDrain || signal.aborted) return
      // An abort while waiting ends the caller's loop and is not an error.
      await once(stdout, 'drain', { signal }).catch(() => {})
    },
    paint: (style, text) => (coloured && text !== '' ? `\u001b[${CODES[style]}m${text}\u001b[0m` : text),
  }
}

/** `✓ true`, `! worth a look`, `✗ false`: a sentence about the store, never raw text from it. */
export function verdict(t: Terminal, state: 'ok' | 'warn' | 'fail', text: string): string {
  const [mark, style] = ({ ok: ['✓', 'green'], warn: ['!', 'yellow'], fail: ['✗', 'red'] } as const)[state]
  return `${t.paint(style, mark)} ${harmless(text)}`
}
