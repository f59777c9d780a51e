// What an answer of the backend means for the caller, and what it means when there is none.

import { InkError, refuse } from '../model/errors.ts'
import type { Commit, Outcome } from '../ports/commit.ts'
import type { Scope } from './scope.ts'

export function refusalOf(scope: Scope, outcome: Outcome & { ok: false }): InkError {
  const { refused, found } = outcome
  if (refused === 'key') return refuse('KEY_REUSED', { ...found })
  if (refused === 'tenant') return refuse('TENANT_CLOSED', { tenant: scope.tenant, state: found })
  if (refused === 'failed') return refuse('BACKEND_FAILED', { reason: found })
  switch (refused.kind) {
    case 'quiet':
      return refuse('HEAD_MOVED', { session: refused.session, after: refused.after, found })
    case 'fence':
      return refuse('FENCE_LOST', { table: refused.table, id: refused.id, fence: refused.fence, found })
    case 'row':
      return refuse('CONFLICT', { table: refused.table, id: refused.id, tries: 1 })
  }
}

/** Somebody else was first, at one of these tables. */
export const isConflict = (error: unknown, ...tables: readonly string[]): boolean =>
  error instanceof InkError && error.code === 'CONFLICT' && tables.includes(String(error.details.table))

/** The backend knows that nothing was saved. */
export const isDefinite = (error: unknown): boolean => error instanceof InkError && error.kind !== 'unknown'
/** A refusal's own sentence says what it means for the data, and here that is not known: only its reason is told on. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof InkError) return error.details.reason === undefined ? error.code : `${error.code}: ${error.details.reason}`
  return error instanceof Error ? error.message : String(error)
}

export const unknownOutcome = (commit: Commit, cause: unknown): InkError =>
  refuse(
    'OUTCOME_UNKNOWN',
    { reason: reasonOf(cause), key: commit.key !== undefined, ids: commit.events.map((e) => e.id), tenant: commit.tenant },
    cause,
  )

/** Our own event ids coming back from a second sending mean that the first one arrived: that is a commit, not a repetition. */
export const asFirstSaved = (commit: Commit, outcome: Outcome): Outcome =>
  outcome.ok && outcome.repeated && outcome.receipts[0]?.id === commit.events[0]?.id ? { ...outcome, repeated: false } : outcome

/**
 * A closed tenant refuses before it looks for an earlier sending, so of a commit that was sent before this says nothing: it may have been
 * saved when the tenant was still active.
 */
export const saysNothing = (commit: Commit, outcome: Outcome): boolean =>
  !outcome.ok && outcome.refused === 'tenant' && commit.events.length > 0
