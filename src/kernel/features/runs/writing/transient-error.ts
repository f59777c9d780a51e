// Tells errors of the program, which are recorded and come again under replay, from errors of the store, which are transient.

import { type ErrorKind, InkError } from '../../../../model/errors.ts'

const PASSING: readonly ErrorKind[] = ['conflict', 'exhausted', 'corrupt', 'unavailable', 'unknown']
/** The error is about the store, not about the request. */
export const isPassing = (error: unknown): boolean => error instanceof InkError && PASSING.includes(error.kind)

// Errors about the program's own requests: recorded, and thrown again under replay.
const THE_RUNS: readonly string[] = ['EFFECT_FAILED', 'RUN_FAILED', 'RUN_CANCELLED', 'KEY_REUSED', 'INBOX_CLAIM_LOST']
const NOT_THE_RUNS: readonly string[] = ['TENANT_CLOSED', 'SESSION_ARCHIVED', 'SESSION_DELETED']

export const isTheRuns = (error: unknown): boolean =>
  !(error instanceof InkError) || THE_RUNS.includes(error.code) || !(isPassing(error) || NOT_THE_RUNS.includes(error.code))
