// A page of rows for people: bounded, newest first unless said, with a cursor to go on.

import { refuse } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { checkKnown } from '../model/options.ts'
import { type Body, decodeBody, type StoredRow } from '../model/rows.ts'
import type { ColumnValue, TableName } from '../model/tables.ts'
import { checkOpen, type Scope } from './scope.ts'

export interface PageOptions {
  /** At most so many; the default is 50. */
  readonly last?: number
  readonly cursor?: string
}

export interface Page<T> {
  readonly items: readonly T[]
  readonly cursor?: string
}

const LAST = 50

export const checkLast = (last: number, of: string): void => {
  if (!Number.isInteger(last) || last < 1 || last > limits.listRows)
    throw refuse('RANGE_INVALID', { why: `ask for 1 to ${limits.listRows} ${of}` })
}

/** A word of a known list, or a refusal. */
export const checkState = <T extends string>(state: T | undefined, known: readonly T[], of: string): void => {
  if (state !== undefined && !known.includes(state)) throw refuse('RANGE_INVALID', { why: `there is no ${of} state '${state}'` })
}

export async function listRows<T>(
  scope: Scope,
  table: TableName,
  { index, equals, backwards = true }: { readonly index: string; readonly equals: readonly ColumnValue[]; readonly backwards?: boolean },
  { last = LAST, cursor, ...unknown }: PageOptions,
  show: (row: StoredRow) => T = (row) => decodeBody<T & Body>(row.body),
): Promise<Page<T>> {
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
  return { items: page.rows.map(show), ...(page.cursor !== undefined && { cursor: page.cursor }) }
}
