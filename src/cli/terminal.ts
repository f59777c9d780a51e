// Where a command speaks: results on stdout, everything else on stderr, colours only where someone sees them. The environment is read
// here and nowhere else.

import { once } from 'node:events'
import { harmless } from './text.ts'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

export interface Terminal {
  readonly json: boolean
  /** Columns to cut lines to; `undefined` when stdout is not a terminal, where nothing is cut. */
  readonly width: number | undefined
  /** Someone watches stderr. */
  readonly watched: boolean
  /** Aborted by Ctrl-C, by SIGTERM, and when nobody reads stdout any more. */
  readonly signal: AbortSignal
  out(line: string): void
  /** To stderr. */
  note(line: string): void
  /** To stderr, without a line's end: a line that is written over. */
  status(text: string): void
  /** Resolves when stdout takes more. */
  room(): Promise<void>
  paint(style: Style, text: string): string
}

const CODES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 }

export const environment = {
  /** The store to use when none is named. */
  url: process.env.INKFAST_URL || undefined,
  /** The key that tenants of a database are named with, where its login may not read it. */
  tenantKey: process.env.INKFAST_TENANT_KEY || undefined,
  /** A store that is not the database itself will not do. */
  databaseRequired: process.env.INKFAST_DATABASE_REQUIRED === '1',
  debug: process.env.INKFAST_DEBUG === '1',
  noColour: (process.env.NO_COLOR ?? '') !== '' || process.env.TERM === 'dumb',
}

const LEAST_WIDTH = 40
// EXIT.unexpected, said here because exit.ts speaks of stores and this file of streams.
const UNWRITTEN = 6

export interface Stops {
  readonly signal: AbortSignal
  /** What ended it: nobody reads stdout, or a signal by its number. */
  readonly reason: () => 'unread' | number | undefined
}

/** Ends the command in order when it is told to, so that the store is closed and no side files are left. */
export function listenForStops(): Stops {
  const stop = new AbortController()
  let reason: 'unread' | number | undefined
  const end = (why: 'unread' | number) => {
    // The second Ctrl-C does not wait.
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
      // An abort while waiting is what ends the caller's loop, not an error of its own.
      await once(stdout, 'drain', { signal }).catch(() => {})
    },
    paint: (style, text) => (coloured && text !== '' ? `\u001b[${CODES[style]}m${text}\u001b[0m` : text),
  }
}

/** `✓ what is true`, `! what to look at`, `✗ what is not`: a sentence about the store, never raw text from it. */
export function verdict(t: Terminal, state: 'ok' | 'warn' | 'fail', text: string): string {
  const [mark, style] = ({ ok: ['✓', 'green'], warn: ['!', 'yellow'], fail: ['✗', 'red'] } as const)[state]
  return `${t.paint(style, mark)} ${harmless(text)}`
}
