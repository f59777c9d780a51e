// Reports of usage: sums over the rows of whole UTC hours, grouped as the caller asks.

import type { SessionId } from '../../../model/ids.ts'
import { checkKnown, filterOf, invalidOption, listOf } from '../../../model/options.ts'
import { compareKeys } from '../../../model/order.ts'
import { decodeBody } from '../../../model/rows.ts'
import type { UsageCounts, UsageRow } from '../../../model/usage.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { everyPage } from '../../reading/every-row.ts'
import { instant } from '../../reading/read-events.ts'
import { sessionToRead } from '../../session/session-named.ts'
import type { Scope } from '../../wiring/scope.ts'
import { addUpTo, NO_USAGE } from './ledger.ts'
import { hourAfter, hourOf } from './usage-decider.ts'

const GROUPS = ['session', 'source', 'model', 'hour'] as const
export type UsageGroup = (typeof GROUPS)[number]

export interface UsageQuery {
  /** Only usage of the session with this key or id. */
  readonly session?: string
  /** One row per combination of these. The default is source and model; an empty list gives one total. */
  readonly by?: readonly UsageGroup[]
  /** From the beginning of the UTC hour that contains this time. */
  readonly since?: Date | number
  /** Up to the end of the UTC hour that contains the time just before this one. */
  readonly until?: Date | number
  readonly signal?: AbortSignal
}

/** A sum. It has the members that the caller grouped by. */
export interface UsageSum extends UsageCounts {
  readonly session?: string
  readonly source?: string
  readonly model?: string
  /** Unix milliseconds at which the UTC hour begins. */
  readonly hour?: number
  /** A count would be larger than 2^53 − 1 and stays there. */
  readonly overflow?: true
}

const ROWS_AT_A_TIME = 500
const BY_DEFAULT: readonly UsageGroup[] = ['source', 'model']

/** Sums are ordered by their groups, in the order that the caller names them. */
export async function sumUsage(scope: Scope, query?: UsageQuery): Promise<readonly UsageSum[]> {
  const { sums, by } = await summed(scope, query)
  const keyOf = (sum: UsageSum) => by.map((group) => sum[group] ?? null)
  return [...sums.values()].sort((a, b) => compareKeys(keyOf(a), keyOf(b)))
}

/** The token ledger of a session: sums by source and model in the order in which these were first used. */
export async function sessionLedger(scope: Scope, session: SessionId): Promise<readonly UsageSum[]> {
  const { sums, born } = await summed(scope, { session })
  return [...sums].sort(([a], [b]) => (born.get(a) as number) - (born.get(b) as number)).map(([, sum]) => sum)
}

async function summed(scope: Scope, query?: UsageQuery) {
  const { session: of, by: groups, since, until, signal, ...unknown } = filterOf(query, 'usage', ['by'])
  checkKnown(unknown, 'usage')
  const by = listOf(groups, 'by') ?? BY_DEFAULT
  const wrong = by.find((group, i) => !GROUPS.includes(group) || by.indexOf(group) !== i)
  if (wrong !== undefined) throw invalidOption('by', `a list of ${GROUPS.join(', ')}, each at most once`, wrong)
  const session = of === undefined ? undefined : await sessionToRead(scope, of)
  const range = {
    ...(session === undefined ? { index: 'byHour', equals: [] } : { index: 'bySession', equals: [session] }),
    ...(since !== undefined && { from: hourOf(instant(since)) }),
    ...(until !== undefined && { below: hourAfter(instant(until)) }),
    limit: ROWS_AT_A_TIME,
  }
  const sums = new Map<string, UsageSum>()
  const born = new Map<string, number>()
  stopIfAsked(scope, signal)
  for await (const rows of everyPage(scope, 'usage', range)) {
    stopIfAsked(scope, signal)
    for (const row of rows) {
      const key = add(sums, by, decodeBody(row.body, row))
      born.set(key, Math.min(born.get(key) ?? row.born, row.born))
    }
  }
  return { sums, born, by }
}

function add(sums: Map<string, UsageSum>, by: readonly UsageGroup[], row: UsageRow): string {
  const labels = Object.fromEntries(by.map((group) => [group, row[group]]))
  const key = JSON.stringify(Object.values(labels))
  const before = sums.get(key) ?? { ...labels, ...NO_USAGE }
  sums.set(key, { ...before, ...addUpTo(before, row), ...(row.overflow && { overflow: true as const }) })
  return key
}
