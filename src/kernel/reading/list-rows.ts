// Bounded lists of rows, newest first by default, with a cursor for the next page.

import { refuse } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { checkKnown, expected, quoted } from '../../model/options.ts'
import type { RowOf } from '../../model/row-types.ts'
import { decodeBody, type TableRow } from '../../model/rows.ts'
import type { ColumnValue, TableName } from '../../model/tables.ts'
import { checkOpen, type Scope } from '../wiring/scope.ts'

export interface PageOptions {
  /** The largest number of items. The default is 50. */
  readonly last?: number
  readonly cursor?: string
}

export interface Page<T> {
  readonly items: readonly T[]
  readonly cursor?: string
}

/** A page of messages, nodes, hits or versions: an array that also has `items` and, if there are more, a cursor. */
export type ArrayPage<T> = T[] & Page<T>

/** `items` and `cursor` are not enumerable, so that the array compares and prints as its items. */
export function arrayPage<T>(items: readonly T[], cursor?: string): ArrayPage<T> {
  const list = [...items]
  Object.defineProperty(list, 'items', { value: list })
  if (cursor !== undefined) Object.defineProperty(list, 'cursor', { value: cursor })
  return list as unknown as ArrayPage<T>
}

const LAST = 50

export const checkLast = (last: number, of: string): void => {
  if (!Number.isInteger(last) || last < 1 || last > limits.listRows)
    throw refuse('RANGE_INVALID', { why: expected(`a number of ${of} from 1 to ${limits.listRows}`, last) })
}

/** Refuses a state that is not one of these. */
export const checkState = <T extends string>(state: T | undefined, known: readonly T[], of: string): void => {
  if (state !== undefined && !known.includes(state)) throw refuse('RANGE_INVALID', { why: `unknown ${of} state '${quoted(state)}'` })
}

export async function listRows<T extends TableName>(
  scope: Scope,
  table: T,
  { index, equals, backwards = true }: { readonly index: string; readonly equals: readonly ColumnValue[]; readonly backwards?: boolean },
  { last = LAST, cursor, ...unknown }: PageOptions,
  /** Undefined leaves a row out. */
  decode: (row: TableRow<T>) => RowOf<T> | undefined | Promise<RowOf<T> | undefined> = ({ id, body }) => decodeBody(body, { table, id }),
): Promise<Page<RowOf<T>>> {
  checkOpen(scope.engine)
  checkKnown(unknown, 'this list')
  checkLast(last, table.replaceAll('_', ' '))
  const page = await scope.engine.backend.rows.list(scope.tenant, table, {
    index,
    equals,
    limit: last,
    backwards,
    ...(cursor !== undefined && { cursor }),
  })
  const items = (await Promise.all(page.rows.map(decode))).filter((row) => row !== undefined)
  return { items, ...(page.cursor !== undefined && { cursor: page.cursor }) }
}
