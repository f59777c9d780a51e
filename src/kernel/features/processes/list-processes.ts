// Lists processes: those that have not ended, unless others are asked for.

import { canonical } from '../../../model/canonical.ts'
import { checkKnown, filterOf, invalidOption } from '../../../model/options.ts'
import { compareKeys, encodeCursor } from '../../../model/order.ts'
import { hasEnded, LIVE_STATES, PROCESS_STATES, type ProcessRow, type ProcessState } from '../../../model/process.ts'
import { decodeBody } from '../../../model/rows.ts'
import type { ColumnValue } from '../../../model/tables.ts'
import { takeName } from '../../naming/names.ts'
import { checkLast, checkState, type Page, type PageOptions } from '../../reading/list-rows.ts'
import { sessionToRead } from '../../session/session-named.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { admit } from '../../writing/draft.ts'

export interface ProcessListOptions extends PageOptions {
  /** Only processes in this state. The default is every state but the endings. */
  readonly state?: ProcessState
  /** Lists processes that have ended, too. */
  readonly all?: boolean
  readonly kind?: string
  /** Only processes that are to wake the session with this key or id. */
  readonly wake?: string
  /** Only processes whose provenance names the session with this key or id. */
  readonly session?: string
  /** Only processes that were registered with an equal definition. */
  readonly definition?: unknown
}

interface Range {
  readonly index: string
  readonly equals: readonly ColumnValue[]
}

export async function listProcesses(scope: Scope, options?: ProcessListOptions): Promise<Page<ProcessRow>> {
  checkOpen(scope.engine)
  const {
    state,
    all = false,
    kind,
    wake,
    session: of,
    definition,
    last = 50,
    cursor,
    ...unknown
  } = filterOf(options, 'processes.list', ['all'])
  checkKnown(unknown, 'a list of processes')
  if (typeof all !== 'boolean') throw invalidOption('all', 'true or false', all)
  checkLast(last, 'processes')
  checkState(state, PROCESS_STATES, 'process')
  const wanted = definition === undefined ? undefined : canonical(admit(scope, definition))
  const named = kind === undefined ? undefined : takeName(scope, kind, 'a process kind')
  const session = wake === undefined ? undefined : await sessionToRead(scope, wake)
  const origin = of === undefined ? undefined : await sessionToRead(scope, of)
  const live = state === undefined && !all
  // Most processes have ended, so those that have not are read by their states.
  const ranges: readonly Range[] = session
    ? [{ index: 'byWake', equals: [session] }]
    : state
      ? [{ index: 'byState', equals: [state] }]
      : live
        ? LIVE_STATES.map((one) => ({ index: 'byState', equals: [one] }))
        : named === undefined
          ? [{ index: 'byBorn', equals: [] }]
          : [{ index: 'byKind', equals: [named] }]
  const fits = (row: ProcessRow) =>
    (state === undefined || row.state === state) &&
    (!live || !hasEnded(row.state)) &&
    (origin === undefined || row.provenance?.session === origin) &&
    (named === undefined || row.kind === named) &&
    (wanted === undefined || (row.definition !== undefined && canonical(row.definition) === wanted))
  const items: ProcessRow[] = []
  // A page has at most as many rows as are still wanted, so that the cursor stands after the last row that was read.
  for (let from = cursor; ; ) {
    const page = await pageOf(scope, ranges, last - items.length, from)
    items.push(...page.items.filter(fits))
    if (page.cursor === undefined || items.length === last) return { items, ...(page.cursor !== undefined && { cursor: page.cursor }) }
    from = page.cursor
  }
}

/** A page of several ranges in one order. Each is read as if it filled the page alone. */
async function pageOf({ engine, tenant }: Scope, ranges: readonly Range[], limit: number, cursor?: string): Promise<Page<ProcessRow>> {
  const about = { limit, backwards: true, ...(cursor !== undefined && { cursor }) }
  const pages = await Promise.all(ranges.map((range) => engine.backend.rows.list(tenant, 'processes', { ...range, ...about })))
  // A process that changes its state between two of these reads is in both.
  const rows = [...new Map(pages.flatMap((page) => page.rows.map((row) => [row.id, row] as const))).values()]
  rows.sort((a, b) => compareKeys([b.born, b.id], [a.born, a.id]))
  const taken = rows.slice(0, limit)
  const end = taken.at(-1)
  const more = rows.length > limit || pages.some((page) => page.cursor !== undefined)
  return { items: taken.map((row) => decodeBody(row.body, row)), ...(more && end && { cursor: encodeCursor([end.born, end.id]) }) }
}
