// Asks at once for the rows that a turn will look at: their ids follow from its options. Only the leaf of the conversation is not known before.

import type { SessionId } from '../../../model/ids.ts'
import type { RowKey } from '../../../ports/rows.ts'
import { headId, maskKey, sessionLeaseId } from '../../naming/names.ts'
import type { Scope } from '../../wiring/scope.ts'
import { readAhead } from '../../writing/part.ts'
import { nodeId } from '../graph/nodes.ts'
import { messageRowId } from '../threads/plan-messages.ts'
import { mainThreadId } from '../threads/thread-memory.ts'
import { usagePart } from '../usage/usage-decider.ts'
import { type InHand, readInHand } from './settle-turn.ts'
import { turnId } from './turn-id.ts'
import type { TakenTurn } from './turn-options.ts'

/** `at` is the time of the turn: its usage is added to that hour. Returns what the session has in hand, if the turn settles any of it. */
export function readTurnAhead(scope: Scope, session: SessionId, taken: TakenTurn, at: number): InHand | undefined {
  const { turn, lease, delta, nodes, leaf, messages, usage, claims, inputs, interrupted } = taken
  const named = delta === 'replace' ? [] : [...nodes.flatMap(({ id, parent }) => [id, parent ?? []].flat()), leaf ?? []].flat()
  const said = messages.flatMap((message) => {
    const { id } = message as { readonly id?: unknown }
    return typeof id === 'string' ? messageRowId(scope, session, maskKey(scope, id)) : []
  })
  const row = (table: RowKey['table']) => (id: string) => ({ table, id })
  readAhead(scope, [
    { table: 'turns', id: turnId(scope, session, turn) },
    { table: 'sessions', id: session },
    // The handle is asked for its fence only after the receipt was looked for. Only a parallel run has another lease.
    ...(lease === undefined ? [] : [{ table: 'leases' as const, id: sessionLeaseId(scope, session) }]),
    { table: 'session_heads', id: headId(scope, session) },
    ...[...new Set(named)].map((name) => nodeId(scope, session, name)).map(row('graph_nodes')),
    ...(messages.length > 0 ? [{ table: 'threads' as const, id: mainThreadId(scope, session) }] : []),
    ...said.map(row('messages')),
    ...usage.map((used) => usagePart(scope, session, undefined, used, at).id).map(row('usage')),
  ])
  if (!isRun(lease) && !claims && !inputs && !interrupted) return undefined
  const held = readInHand(scope, session)
  // A failure is for the one who waits for them.
  held.catch(() => {})
  return held
}

const isRun = (lease: unknown): boolean => typeof (lease as { readonly id?: unknown } | undefined)?.id === 'string'
