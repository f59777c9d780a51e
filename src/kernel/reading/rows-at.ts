// Rows of a session as they stood at a seq. A fork uses them: it begins with the rows that its source had at the fork point.
//
// A feature that copies rows into a fork calls `forkedRows` in `onForked`. A feature that reads its ancestors' rows in place calls `rowsAt` for
// each session of `lineageOf`, and `rowAt` for a single row. Each event of the decider must have the session in its header, and its table an
// index that begins with `session`.
//
// A row that has not changed since the seq is taken as it is stored. Only rows that changed later are folded again, each from the events about
// it. So a fork near the end of a long session reads its rows and a short tail of the journal.

import { assert } from '../../model/errors.ts'
import type { Id, SessionId } from '../../model/ids.ts'
import { type Body, decodeBody } from '../../model/rows.ts'
import { tableOf } from '../../model/tables.ts'
import type { Fork } from '../feature.ts'
import { happened } from '../proof/rebuild.ts'
import type { Scope } from '../wiring/scope.ts'
import { type AnyDecider, type Decider, ERASED, keptIn } from '../writing/decider.ts'
import { foldFact } from '../writing/fold.ts'
import { everyRow } from './every-row.ts'
import { scanJournal } from './read-events.ts'

export interface RowAt<Row extends object> {
  readonly id: Id
  readonly row: Row
  /** The place of the row in the order of its table. Absent if the row was removed since. */
  readonly born?: number | undefined
}

const PAGE = 200

/** Returns the rows that a new fork begins with, for a feature that copies rows into each fork. */
export async function forkedRows<Row extends object>(
  scope: Scope,
  decider: Pick<Decider<Row>, 'table' | 'evolve'>,
  fork: Pick<Fork, 'from' | 'at'>,
): Promise<readonly RowAt<Row>[]> {
  const { from, at } = await forkSource(scope, fork)
  return rowsAt(scope, decider, from, at)
}

/** The source may be a fork itself that did not exist at the fork point: then it is that fork's own source. */
export async function forkSource(scope: Scope, { from, at }: Pick<Fork, 'from' | 'at'>): Promise<Pick<Fork, 'from' | 'at'>> {
  const source = await scope.engine.backend.rows.get(scope.tenant, 'sessions', from)
  const relation = source && decodeBody(source.body, source).relation
  if (source && source.born > at && relation?.kind === 'fork' && relation.at !== undefined)
    return forkSource(scope, { from: relation.session, at: Math.min(at, relation.at) })
  return { from, at }
}

/** Returns the rows that one session had at a seq, without those of its ancestors. */
export async function rowsAt<Row extends object>(
  scope: Scope,
  decider: Pick<Decider<Row>, 'table' | 'evolve'>,
  session: SessionId,
  at: number,
): Promise<readonly RowAt<Row>[]> {
  const { table, evolve } = decider
  const index = Object.entries(tableOf(table).indexes).find(([, [first]]) => first === 'session')?.[0]
  assert(index, `${table} has an index that begins with the session`)
  const rows: RowAt<Row>[] = []
  const changed = new Set<Id>()
  const born = new Map<string, number>()
  for await (const stored of everyRow(scope, table, { index, equals: [session], limit: PAGE })) {
    const id = stored.id as Id
    born.set(id, stored.born)
    const row = stored.revision <= at ? asStored<Row>(stored.body) : undefined
    if (row) rows.push({ id, row, born: stored.born })
    else if (stored.born <= at) changed.add(id)
  }
  // Rows that were removed since, or removed and made again. A row whose first later event made it did not exist at the seq.
  const types = Object.keys(evolve).map((text) => ({ text, prefix: false }))
  const { journal } = scope.engine.backend
  for await (const events of scanJournal(scope, journal, Number.MAX_SAFE_INTEGER, { session, types }, at))
    for (const { subject, seq } of events) if (subject && (born.get(subject) ?? Infinity) > seq) changed.add(subject)
  for (const id of changed) {
    const row = await foldTo<Row>(scope, decider, id, at)
    if (row) rows.push({ id, row, born: born.get(id) })
  }
  return rows
}

/** Returns one row as it stood at a seq. */
export async function rowAt<Row extends object>(
  scope: Scope,
  decider: Pick<Decider<Row>, 'table' | 'evolve'>,
  id: Id,
  at: number,
): Promise<Row | undefined> {
  const row = await scope.engine.backend.rows.get(scope.tenant, decider.table, id)
  return row && row.revision <= at ? (decodeBody(row.body, row) as Row) : foldTo(scope, decider, id, at)
}

/** Undefined if the row is damaged: then it is folded again from its events. */
function asStored<Row extends object>(body: string): Row | undefined {
  try {
    return decodeBody(body) as Row
  } catch {
    return undefined
  }
}

/** Payloads that were erased since are missing in the fold: a fork does not bring them back. */
export async function foldTo<Row extends object>(
  scope: Scope,
  decider: Pick<Decider<Row>, 'table' | 'evolve'>,
  subject: Id,
  at: number,
): Promise<Row | undefined> {
  let body: Body | undefined
  for await (const events of scanJournal(scope, scope.engine.backend.journal, at, { subject }))
    for (const e of events) {
      if (e.type === ERASED && body) body = { ...body, ...keptIn(happened(scope, e).data, decider.table) }
      if (Object.hasOwn(decider.evolve, e.type)) body = foldFact(decider as AnyDecider, body, happened(scope, e), 0).body
    }
  return body as Row | undefined
}
