// One row's share of a commit: which decider decides, and on what command.

import { assert } from '../../model/errors.ts'
import type { EventId, Id, RunId, SessionId } from '../../model/ids.ts'
import { ownMembers } from '../../model/options.ts'
import type { RowOf } from '../../model/row-types.ts'
import { decodeBody, type TableRow } from '../../model/rows.ts'
import type { TableName } from '../../model/tables.ts'
import type { Guard } from '../../ports/commit.ts'
import type { RowKey } from '../../ports/rows.ts'
import { rowsTogether } from '../reading/rows-together.ts'
import type { Scope } from '../wiring/scope.ts'
import type { AnyDecider, Command, Decider } from './decider.ts'

export interface Part<Row extends object = object> {
  readonly decider: AnyDecider
  readonly id: Id
  readonly command: Command
  readonly session?: SessionId
  readonly run?: RunId
  readonly cause?: EventId
  /** The row as the caller last saw it, so that the plan need not read it. A function is called when the plan holds the row's mutex. */
  readonly seen?: DoneRow<Row> | (() => DoneRow<Row>)
  /** The facts are not masked: the values in them are masked already, or their writer wants them whole. */
  readonly whole?: boolean | undefined
  /** Must hold for the commit: the content exists that the facts refer to. */
  readonly guards?: readonly Guard[] | undefined
  /** The facts repeat earlier ones, for a fork. What these refer to may be gone since. */
  readonly copied?: boolean | undefined
}

export const part = <Row extends object, C extends Command>(
  decider: Decider<Row, C>,
  id: Id,
  command: C,
  about: Pick<Part<NoInfer<Row>>, 'session' | 'run' | 'cause' | 'seen' | 'whole' | 'guards' | 'copied'> = {},
): Part<Row> => ownMembers({ decider, id, command, ...about })

/** A row as it was read, or as a commit left it. `body` is undefined where there is no row. */
export interface DoneRow<Row extends object = object> {
  readonly body: Row | undefined
  readonly revision: number
}

/** A row that cannot exist yet, because its id is new. */
export const NOT_THERE: DoneRow<never> = { body: undefined, revision: 0 }

export const rowKey = (table: TableName, id: string): string => `${table}/${id}`

export const seenOf = (seen: DoneRow | (() => DoneRow)): DoneRow => (typeof seen === 'function' ? seen() : seen)

/**
 * Reads a row as it is stored. A transaction that reads it here is built again when it has changed; until then it has the row as it read it
 * first. Rows that are asked for in the same tick go in one round trip.
 */
export function readStored<T extends TableName>({ engine, tenant, reads }: Scope, table: T, id: string): Promise<TableRow<T> | undefined> {
  const key = rowKey(table, id)
  const known = reads?.get(key)
  if (known) return known as Promise<TableRow<T> | undefined>
  const row = rowsTogether(engine).read(tenant, { table, id })
  reads?.set(key, row)
  return row as Promise<TableRow<T> | undefined>
}

/** Asks for rows that a transaction reads later, so that they come in one round trip. It still checks them in its own order. */
export function readAhead(scope: Scope, keys: readonly RowKey[]): void {
  assert(scope.reads, 'only a transaction keeps rows')
  // A failure is for the one who reads the row. Without a reader it is nobody's.
  for (const { table, id } of keys) readStored(scope, table, id).catch(() => {})
}

/** Reads a row together with the revision that a guard needs. */
export async function readRow<T extends TableName>(scope: Scope, table: T, id: string): Promise<DoneRow<RowOf<T>>> {
  const row = await readStored(scope, table, id)
  return row ? { body: decodeBody(row.body, { table, id }), revision: row.revision } : NOT_THERE
}
