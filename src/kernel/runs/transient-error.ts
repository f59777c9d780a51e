// Whose an error is that a program meets: its own, which is recorded and met again by replay, or the store's, which passes.

import { type ErrorKind, InkError } from '../../model/errors.ts'

const PASSING: readonly ErrorKind[] = ['conflict', 'exhausted', 'corrupt', 'unavailable', 'unknown']
/** Says something about the store, and nothing about what was asked of it. */
export const isPassing = (error: unknown): boolean => error instanceof InkError && PASSING.includes(error.kind)

// What the program was told about its own doings: recorded, and met again by replay.
const THE_RUNS: readonly string[] = ['EFFECT_FAILED', 'RUN_FAILED', 'RUN_CANCELLED', 'KEY_REUSED', 'INBOX_CLAIM_LOST']
const NOT_THE_RUNS: readonly string[] = ['TENANT_CLOSED', 'SESSION_ARCHIVED', 'SESSION_DELETED']

export const isTheRuns = (error: unknown): boolean =>
  !(error instanceof InkError) || THE_RUNS.includes(error.code) || !(isPassing(error) || NOT_THE_RUNS.includes(error.code))
