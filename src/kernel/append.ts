// Appending plain events: one, or many that stand together. A plain append changes no row; it is guarded by the session still
// being open.

import { refuse } from '../model/errors.ts'
import { checkType, type EventDraft, type Receipt, TRANSIENT } from '../model/event.ts'
import { type EventId, type RunId, type SessionId, toId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { checkSeq, optionsOf } from '../model/options.ts'
import { decodeBody } from '../model/rows.ts'
import type { SessionRow } from '../model/session.ts'
import type { CommitKey, Guard } from '../ports/commit.ts'
import { ERASED } from './decider.ts'
import { admit, commitKey, draftEvent } from './draft.ts'
import { pause } from './execute.ts'
import { refusalOf } from './outcome.ts'
import { checkOpen, type Scope } from './scope.ts'
import type { SeenSession } from './session-memory.ts'

export interface AppendOptions {
  /** The session's last seq as you know it: refused with HEAD_MOVED when someone wrote since. */
  readonly after?: number
  /** Same key and same body: the same receipt, written once. */
  readonly key?: string
  readonly cause?: EventId
  readonly run?: RunId
  /** May be erased by retention. */
  readonly transient?: boolean
}

export interface NewEvent {
  readonly session?: SessionId
  readonly type: string
  readonly data: unknown
  readonly cause?: EventId
  readonly run?: RunId
  readonly transient?: boolean
}

export async function append(scope: Scope, session: SessionId, type: string, data: unknown, options: AppendOptions = {}): Promise<Receipt> {
  const { after, key, run, cause, transient } = optionsOf(options, 'append')
  const receipts = await appendAll(
    scope,
    [{ session, type, data, ...(run && { run }), ...(cause && { cause }), ...(transient && { transient }) }],
    {
      within: `append/${session}`,
      ...(key !== undefined && { key }),
      ...(after !== undefined && { quiet: [{ session, after: checkSeq(after) }] }),
    },
  )
  return receipts[0] as Receipt
}

export interface AppendAllOptions {
  readonly key?: string
  readonly within?: string
  readonly quiet?: readonly { readonly session: SessionId; readonly after: number }[]
}

export async function appendAll(scope: Scope, given: readonly NewEvent[], options: AppendAllOptions = {}): Promise<readonly Receipt[]> {
  checkOpen(scope.engine)
  if (!Array.isArray(given) || given.length === 0) throw refuse('COMMIT_EMPTY')
  if (given.length > limits.commitEvents)
    throw refuse('COMMIT_TOO_LARGE', { limit: limits.commitEvents, unit: 'events', found: given.length })
  // Holes would be skipped by map; here they are undefined, and refused like it.
  const list: readonly NewEvent[] = Array.from(given)
  const admitted = list.map((e) => admit(scope, checkNew(scope, e).data))
  const body = () => list.map((e, i) => ({ session: e.session, type: e.type, data: admitted[i] }))
  const key = options.key === undefined ? undefined : commitKey(scope, options.within ?? 'appendAll', options.key, body())
  const events = list.map((e, i) => draftNew(scope, e, admitted[i] as never, key))
  const sessions = [...new Set(list.flatMap((e) => e.session ?? []))]
  const quiet: Guard[] = (options.quiet ?? []).map((q) => ({ kind: 'quiet', ...q }))

  for (let attempt = 1; ; attempt++) {
    const guards: Guard[] = []
    for (const id of sessions) {
      const { revision, state } = scope.engine.sessions.get(scope.tenant, id) ?? (await lookAtSession(scope, id))
      // A keyed retry must reach its receipt even if the session was closed since: the backend looks at the key first.
      if (state !== 'open' && !key) throw closed(id, state)
      guards.push({ kind: 'row', table: 'sessions', id, revision: state === 'open' ? revision : NEVER })
    }
    const outcome = await scope.engine.lane.submit({
      tenant: scope.tenant,
      ...(key && { key }),
      guards: [...guards, ...quiet],
      events,
      changes: [],
    })
    if (outcome.ok) return outcome.receipts
    const { refused } = outcome
    if (typeof refused !== 'object' || refused.kind !== 'row') throw refusalOf(scope, outcome)
    // The session changed since this node last looked: renamed is harmless, archived or deleted is not.
    const seen = await lookAtSession(scope, refused.id as SessionId)
    if (seen.state !== 'open') throw closed(refused.id as SessionId, seen.state)
    if (attempt === limits.conflictRetries) throw refuse('CONFLICT', { table: 'sessions', id: refused.id, tries: attempt })
    if (attempt > 1) await pause(scope, attempt)
  }
}

// No row has this revision, so a guard on it never holds.
const NEVER = -1

async function lookAtSession(scope: Scope, id: SessionId): Promise<SeenSession> {
  const row = await scope.engine.backend.rows.get(scope.tenant, 'sessions', toId<'session'>(id))
  if (!row) throw refuse('SESSION_UNKNOWN', { session: id, tenant: scope.tenant })
  const seen = { revision: row.revision, state: decodeBody<SessionRow & Record<string, unknown>>(row.body).state }
  scope.engine.sessions.set(scope.tenant, id, seen)
  return seen
}

const closed = (session: SessionId, state: SeenSession['state']) =>
  refuse(state === 'archived' ? 'SESSION_ARCHIVED' : 'SESSION_DELETED', { session })

function checkNew(scope: Scope, e: NewEvent): NewEvent {
  if (typeof e !== 'object' || e === null)
    throw refuse('OPTION_INVALID', { option: 'events', why: 'each one is an object with type and data' })
  checkType(e.type)
  if (e.type === ERASED || scope.engine.registry.of(e.type)) throw refuse('TYPE_RESERVED', { type: e.type })
  for (const id of [e.session, e.run, e.cause]) if (id !== undefined) toId(id)
  return e
}

function draftNew(scope: Scope, e: NewEvent, admitted: Parameters<typeof draftEvent>[2], key: CommitKey | undefined): EventDraft {
  const { type, session, run, cause } = e
  return draftEvent(scope, { type, session, run, cause, key: key?.digest, ...(e.transient && { class: TRANSIENT }) }, admitted)
}
