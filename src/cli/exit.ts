// Exit codes and messages. Every failure of a command passes through here.

import { type ErrorCode, type ErrorKind, InkError } from '../model/errors.ts'
import { harmless, jsonLine } from './text.ts'

export const EXIT = {
  fine: 0,
  /** The check found a problem. */
  unsound: 1,
  usage: 2,
  /** The store, or the requested thing in it, does not exist or cannot be read. */
  missing: 3,
  /** The file is damaged, or is not a store. */
  corrupt: 4,
  /** Unavailable now, or with this version. */
  unavailable: 5,
  unexpected: 6,
} as const

export type Exit = (typeof EXIT)[keyof typeof EXIT]

const byKind: Readonly<Record<ErrorKind, Exit>> = {
  invalid: EXIT.usage,
  missing: EXIT.missing,
  denied: EXIT.missing,
  corrupt: EXIT.corrupt,
  unavailable: EXIT.unavailable,
  exhausted: EXIT.unavailable,
  conflict: EXIT.unavailable,
  unknown: EXIT.unexpected,
}

// Codes whose kind fits a program that calls the library, but not a person at a terminal.
const byCode: Partial<Record<ErrorCode, Exit>> = {
  NOT_A_STORE: EXIT.corrupt,
}

/** A failure of the command itself, not of the store. */
export class CliError extends Error {
  override readonly name = 'CliError'
  readonly code: string
  readonly exit: Exit
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: string, exit: Exit, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.code = code
    this.exit = exit
    this.details = details
  }
}

export const usage = (message: string): CliError => new CliError('USAGE', EXIT.usage, message)

export interface Failure {
  readonly exit: Exit
  readonly error: {
    readonly code: string
    readonly kind: string
    readonly message: string
    readonly details: Readonly<Record<string, unknown>>
  }
}

export function failureOf(error: unknown): Failure {
  if (error instanceof InkError) {
    const { code, kind, message, details } = error
    return { exit: byCode[code] ?? byKind[kind], error: { code, kind, message, details } }
  }
  if (error instanceof CliError) {
    const kind = error.exit === EXIT.usage ? 'invalid' : error.exit === EXIT.missing ? 'missing' : 'unavailable'
    return { exit: error.exit, error: { code: error.code, kind, message: error.message, details: error.details } }
  }
  const { code, path, message } = error as NodeJS.ErrnoException
  const denied = code === 'EACCES' || code === 'EPERM'
  if (denied || code === 'ENOENT' || code === 'ENOTDIR') {
    const why = denied ? 'cannot be read by this user' : 'does not exist'
    const todo = denied ? 'Give this user read permission.' : 'Check the path.'
    return {
      exit: EXIT.missing,
      error: { code, kind: denied ? 'denied' : 'missing', message: `${path ?? 'A file'} ${why}. ${todo}`, details: { path } },
    }
  }
  const said = message ?? String(error)
  return {
    exit: EXIT.unexpected,
    error: {
      code: 'UNEXPECTED',
      kind: 'unknown',
      message: `Unexpected error: ${said}. Run the command again with INKFAST_DEBUG=1 and report the output.`,
      details: {},
    },
  }
}

export interface FailureStreams {
  readonly json: boolean
  readonly debug: boolean
  readonly out: (line: string) => void
  readonly note: (line: string) => void
}

export function tellFailure(error: unknown, { json, debug, out, note }: FailureStreams): Exit {
  const failure = failureOf(error)
  if (json) out(jsonLine({ error: failure.error }))
  else note(`inkfast: ${harmless(failure.error.message)}`)
  if (debug && error instanceof Error) note(error.stack ?? '')
  return failure.exit
}
