// Cancels inputs: one, several, or one and all after it. A call cancels them together and reports the outcome of each.

import { refuse } from '../../../model/errors.ts'
import { type SessionId, toId } from '../../../model/ids.ts'
import type { InputId, InputRow, InputState } from '../../../model/input.ts'
import { limits } from '../../../model/limits.ts'
import { decodeBody, type TableRow } from '../../../model/rows.ts'
import type { Guard } from '../../../ports/commit.ts'
import { maskKey } from '../../naming/names.ts'
import { checkThere } from '../../session/refuse-deleted.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'
import { part, plan } from '../../writing/execute.ts'
import { retryConflicts } from '../../writing/retry-conflicts.ts'
import { input } from './input-decider.ts'
import { inputId } from './offer-input.ts'

/** An input by its id or by its key. */
export type InputRef = string | { readonly key: string }

export type CancelWord = 'cancelled' | 'alreadyAccepted' | 'alreadyCompleted' | 'alreadyCancelled' | 'notFound' | 'anchorNotFound'

export interface CancelOutcome {
  readonly id: InputId
  readonly outcome: CancelWord
}

const WORDS: Readonly<Record<InputState, CancelWord>> = {
  pending: 'cancelled',
  deferred: 'cancelled',
  accepted: 'alreadyAccepted',
  completed: 'alreadyCompleted',
  cancelled: 'alreadyCancelled',
}

export function refId(scope: Scope, session: SessionId, ref: InputRef): InputId {
  if (typeof ref === 'object' && ref !== null) return inputId(scope, session, maskKey(scope, ref.key))
  return telling(scope, () => toId<'input'>(ref))
}

export async function cancelInputs(scope: Scope, session: SessionId, refs: readonly InputRef[]): Promise<readonly CancelOutcome[]> {
  checkOpen(scope.engine)
  if (refs.length > limits.listRows) throw tooMany(refs.length)
  const ids = refs.map((ref) => refId(scope, session, ref))
  return cancelled(scope, session, async () => {
    const distinct = [...new Set(ids)]
    const found = await Promise.all(distinct.map((id) => scope.engine.backend.rows.get(scope.tenant, 'inputs', id)))
    const rows = found.filter((row) => row !== undefined)
    return { ids, rows }
  })
}

/** Cancels an input and all inputs after it. */
export async function cancelInputsFrom(scope: Scope, session: SessionId, ref: InputRef): Promise<readonly CancelOutcome[]> {
  checkOpen(scope.engine)
  const anchor = refId(scope, session, ref)
  return cancelled(scope, session, async () => {
    const first = await scope.engine.backend.rows.get(scope.tenant, 'inputs', anchor)
    if (!first || rowOf(first).session !== session) return { ids: [anchor], rows: [], missing: 'anchorNotFound' }
    const { rows } = await scope.engine.backend.rows.list(scope.tenant, 'inputs', {
      index: 'bySession',
      equals: [session],
      from: first.born,
      limit: limits.listRows + 1,
    })
    if (rows.length > limits.listRows) throw tooMany(rows.length)
    return { ids: rows.map(({ id }) => id as InputId), rows }
  })
}

const tooMany = (found: number) => refuse('COMMIT_TOO_LARGE', { limit: limits.listRows, unit: 'inputs', found })

interface Looked {
  readonly ids: readonly InputId[]
  readonly rows: readonly TableRow<'inputs'>[]
  readonly missing?: CancelWord
}

/** Cancels in one commit, guarded by the revision of every input: all outcomes were true at one moment. */
const cancelled = (scope: Scope, session: SessionId, look: () => Promise<Looked>): Promise<readonly CancelOutcome[]> =>
  retryConflicts(scope, ['inputs'], async () => {
    const { ids, rows, missing = 'notFound' } = await look()
    const states = new Map<string, InputState>()
    for (const row of rows) if (rowOf(row).session === session) states.set(row.id, rowOf(row).state)
    const there = rows.filter(({ id }) => states.has(id))
    if (there.length === 0) await checkThere(scope, session)
    const parts = there
      .filter(({ id }) => WORDS[states.get(id) as InputState] === 'cancelled')
      .map((row) => {
        const { run } = rowOf(row)
        const seen = { body: rowOf(row), revision: row.revision }
        return part(input, row.id as InputId, { verb: 'cancel', id: row.id as InputId }, { session, seen, ...(run && { run }) })
      })
    const guards = there.map(({ id, revision }): Guard => ({ kind: 'row', table: 'inputs', id, revision }))
    if (parts.length > 0) await plan(scope, parts, { guards })
    return ids.map((id) => {
      const state = states.get(id)
      return { id, outcome: state ? WORDS[state] : missing }
    })
  })

const rowOf = ({ id, body }: TableRow<'inputs'>): InputRow => decodeBody(body, { id })
