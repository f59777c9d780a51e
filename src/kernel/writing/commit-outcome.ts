// Turns the outcome of a commit into the error that the caller gets, also when the backend did not answer.

import { InkError, refuse } from '../../model/errors.ts'
import type { TableName } from '../../model/tables.ts'
import { valueRef } from '../../model/value.ts'
import type { Commit, Outcome } from '../../ports/commit.ts'
import type { Scope } from '../wiring/scope.ts'

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
    case 'value':
      return refuse('VALUE_MISSING', { ref: valueRef(refused.ref), tenant: scope.tenant, ...(refused.given && { given: true }) })
    case 'blob':
      return refuse('BLOB_UNKNOWN', { digest: refused.digest, tenant: scope.tenant, ...(refused.given && { given: true }) })
    case 'row':
      return refuse('CONFLICT', { table: refused.table, id: refused.id, tries: 1 })
  }
}

/** The tables that a CONFLICT names. The waits of a run are kept in its row, and conflict under a name of their own. */
export type ConflictTable = TableName | 'waits'

/** Another writer was first at one of these tables. */
export const isConflict = (error: unknown, ...tables: readonly ConflictTable[]): boolean =>
  error instanceof InkError && error.code === 'CONFLICT' && tables.includes(error.details.table as ConflictTable)

/** A value or a blob is not there (any more), and was not named by the caller's data: whoever put it can put it again. */
export const isGone = (error: unknown): boolean =>
  error instanceof InkError && (error.code === 'VALUE_MISSING' || error.code === 'BLOB_UNKNOWN') && error.details.given !== true

/** The store was closed. */
export const isClosed = (error: unknown): boolean => error instanceof InkError && error.code === 'STORE_CLOSED'

/** The database is away for now. Nothing was written, and a retry may succeed. */
export const isOutage = (error: unknown): boolean =>
  error instanceof InkError && (error.code === 'DATABASE_UNREACHABLE' || error.code === 'DATABASE_BUSY')

/** The backend knows that it saved nothing. */
export const isDefinite = (error: unknown): boolean => error instanceof InkError && error.kind !== 'unknown'

/** Returns the reason of an error without its sentence about the data: the state of the data is unknown here. */
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

/** Finding our own event ids means that the first send arrived: that is a commit, not a repetition. */
export const asFirstSaved = (commit: Commit, outcome: Outcome): Outcome =>
  outcome.ok && outcome.repeated && outcome.receipts[0]?.id === commit.events[0]?.id ? { ...outcome, repeated: false } : outcome

/**
 * Whether a refusal leaves open if an earlier send of the same commit was saved. A closed tenant refuses before it looks for one, and the
 * tenant may have been active at the first send.
 */
export const saysNothing = (commit: Commit, outcome: Outcome): boolean =>
  !outcome.ok && outcome.refused === 'tenant' && commit.events.length > 0
