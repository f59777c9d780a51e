// Commits parts that are known beforehand: one row, or several rows that change together.

import type { Receipt } from '../../model/event.ts'
import type { Id } from '../../model/ids.ts'
import type { ValueNode } from '../../model/value.ts'
import type { Guard } from '../../ports/commit.ts'
import type { Scope } from '../wiring/scope.ts'
import type { Command, Decider } from './decider.ts'
import { type DoneRow, type Part, part } from './part.ts'
import { type TransactOptions, transactWith } from './transact.ts'

export interface PlanOptions extends TransactOptions {
  readonly guards?: readonly Guard[]
  /** Nodes of values that the facts refer to. */
  readonly nodes?: readonly ValueNode[]
}

export interface Done<Parts extends readonly Part[] = readonly Part[]> {
  readonly receipts: readonly Receipt[]
  readonly repeated: boolean
  /** The rows as this commit left them, one per part. */
  readonly rows: RowsOf<Parts>
}

type RowsOf<Parts extends readonly Part[]> = {
  readonly [I in keyof Parts]: Parts[I] extends Part<infer Row> ? DoneRow<Row> : never
}

export async function execute<Row extends object, C extends Command>(
  scope: Scope,
  decider: Decider<Row, C>,
  id: Id,
  command: C,
  options: PlanOptions & Pick<Part, 'session' | 'run' | 'cause'> = {},
): Promise<{
  readonly row: Row | undefined
  readonly revision: number
  readonly receipts: readonly Receipt[]
  readonly repeated: boolean
}> {
  const { session, run, cause, ...rest } = options
  const about = { ...(session && { session }), ...(run && { run }), ...(cause && { cause }) }
  const { rows, receipts, repeated } = await plan(scope, [part(decider, id, command, about)], rest)
  return { row: rows[0].body, revision: rows[0].revision, receipts, repeated }
}

/** Decides all parts and commits them together. Decides again when another writer changed one of the rows in between. */
export function plan<const Parts extends readonly Part[]>(scope: Scope, parts: Parts, options: PlanOptions = {}): Promise<Done<Parts>> {
  const { guards = [], nodes = [], ...rest } = options
  const committed = (rows: readonly DoneRow[], done: Pick<Done, 'receipts' | 'repeated'>) => ({ rows, ...done }) as unknown as Done<Parts>
  return transactWith(scope, async () => ({ parts, guards, nodes, committed }), rest, parts)
}
