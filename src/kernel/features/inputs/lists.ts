// The inputs and inbox items of a session by their state: lists, prunes, and cancels them when the session is deleted.

import { refuse } from '../../../model/errors.ts'
import type { Id, SessionId } from '../../../model/ids.ts'
import { checkKnown, filterOf, quoted } from '../../../model/options.ts'
import { decodeBody, type TableRow } from '../../../model/rows.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'
import { everyPage } from '../../reading/every-row.ts'
import { checkLast } from '../../reading/list-rows.ts'
import type { TypedPage } from '../../reading/typed-backend.ts'
import { purgeTime } from '../../time/purge-time.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { isConflict } from '../../writing/commit-outcome.ts'
import type { AnyDecider } from '../../writing/decider.ts'
import { part, plan } from '../../writing/execute.ts'
import { inbox } from './inbox-decider.ts'
import { input } from './input-decider.ts'

export interface Listing<State extends string> {
  readonly state?: State
  /** The number of items, newest first. The default is 50. */
  readonly last?: number
  /** The number of items, oldest first. */
  readonly first?: number
  readonly cursor?: string
}

export interface PruneOptions {
  /** Only what ended at least this long ago. */
  readonly olderThan?: Duration
}

type Kept = 'inputs' | 'inbox'

export async function listed<T extends Kept, State extends string>(
  scope: Scope,
  table: T,
  session: SessionId,
  states: readonly State[],
  options: Listing<State> | undefined,
): Promise<TypedPage<T>> {
  checkOpen(scope.engine)
  const { state, last, first, cursor, ...unknown } = filterOf(options, `${table}.list`)
  checkKnown(unknown, 'a list of inputs')
  const limit = first ?? last ?? 50
  checkLast(limit, table)
  if (state !== undefined && !states.includes(state)) throw refuse('RANGE_INVALID', { why: `unknown state '${quoted(state)}' of ${table}` })
  return scope.engine.backend.rows.list(scope.tenant, table, {
    index: state === undefined ? 'bySession' : 'bySessionAndState',
    equals: state === undefined ? [session] : [session, state],
    limit,
    backwards: first === undefined,
    ...(cursor !== undefined && { cursor }),
  })
}

/** Removes ended rows. The journal keeps their events. */
export async function pruneOver(
  scope: Scope,
  table: Kept,
  session: SessionId,
  states: readonly string[],
  decider: AnyDecider,
  options: PruneOptions | undefined,
): Promise<number> {
  checkOpen(scope.engine)
  const { olderThan, ...unknown } = filterOf(options, `${table}.prune`)
  checkKnown(unknown, 'prune')
  const before = olderThan === undefined ? Infinity : (await purgeTime(scope)) - milliseconds(olderThan)
  let pruned = 0
  for (const state of states) {
    await inChunks(scope, table, session, state, async (rows) => {
      const old = rows.filter(({ id, body }) => (decodeBody(body, { id }).endedAt ?? 0) <= before)
      if (old.length === 0) return
      await plan(
        scope,
        old.map(({ id }) => part(decider, id as Id, { verb: 'prune' }, { session })),
      )
      pruned += old.length
    })
  }
  return pruned
}

/** Cancels what is left when a session is deleted. */
export async function clearSession(scope: Scope, session: SessionId): Promise<void> {
  for (const [table, state, decider] of LEFT) {
    await inChunks(scope, table, session, state, async (rows) => {
      for (const { id } of rows) {
        try {
          await plan(scope, [part(decider, id as Id, { verb: 'cancel', id }, { session })])
        } catch (error) {
          // Another writer ended it first.
          if (!isConflict(error, table)) throw error
        }
      }
    })
  }
}

const LEFT: readonly (readonly [Kept, string, AnyDecider])[] = [
  ['inputs', 'pending', input],
  ['inputs', 'deferred', input],
  ['inbox', 'pending', inbox],
]

const CHUNK = 500

async function inChunks(
  scope: Scope,
  table: Kept,
  session: SessionId,
  state: string,
  handle: (rows: readonly TableRow<Kept>[]) => Promise<void>,
): Promise<void> {
  for await (const rows of everyPage(scope, table, { index: 'bySessionAndState', equals: [session, state], limit: CHUNK }))
    await handle(rows)
}
