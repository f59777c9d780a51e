// Finds the tenants that are due first, from the stored times of a queue. A stored time may be too early and is never too late, so every tenant
// on the way is compared with its items: those that are stored too early come later, or not at all.

import type { TenantId } from './ids.ts'
import { compareText } from './order.ts'
import type { DueTenant } from './queries.ts'

/** The stored time of a queue in one tenant, with the earliest time of its items; without one if nothing is due there. */
export interface StoredDue {
  readonly tenant: TenantId
  readonly at: number
  readonly next: number | undefined
}

export interface Walked {
  readonly found: readonly DueTenant[]
  /** Tenants that are stored too early, and that the node should raise. Empty while they are few: each costs a look only one seek. */
  readonly early: readonly TenantId[]
}

// So many wrong times are left as they are, because raising them is a write: a queue that is used again and again writes nothing.
const LEFT_EARLY_MOST = 16
// At most so many tenants are compared beyond those that are asked for.
const COMPARED = 1000

/** Reads the stored times behind a place, in the order of time and tenant. */
type ReadPage = (after: Pick<DueTenant, 'at' | 'tenant'>, limit: number) => Promise<readonly StoredDue[]>

export async function walkDue(readPage: ReadPage, limit: number): Promise<Walked> {
  const seen = new Map<TenantId, StoredDue>()
  const left = Math.min(limit, LEFT_EARLY_MOST)
  let [exact, isAll] = [0, limit === 0]
  for (let after: Pick<DueTenant, 'at' | 'tenant'> = START; !isAll && exact < limit && seen.size < limit + COMPARED; ) {
    const size = limit + left
    const page = await readPage(after, size)
    for (const one of page) seen.set(one.tenant, one)
    exact = count(seen.values(), isExact)
    isAll = page.length < size
    after = page.at(-1) ?? after
  }
  const early = [...seen.values()].filter((one) => !isExact(one)).map(({ tenant }) => tenant)
  return { found: found([...seen.values()], limit, isAll || exact >= limit), early: early.length > left ? early : [] }
}

/**
 * The tenants on the way, in the order of their earliest items. Those that are due behind the last place of the way give way to tenants that
 * were not met. If the way ended too soon, tenants that are stored too early are told as they are stored.
 */
function found(seen: readonly StoredDue[], limit: number, isEnough: boolean): readonly DueTenant[] {
  const told = isEnough ? seen.flatMap(({ tenant, next }) => (next === undefined ? [] : [{ tenant, at: next }])) : seen
  return told
    .map(({ tenant, at }) => ({ tenant, at }))
    .sort(byTime)
    .slice(0, limit)
}

const START = { at: Number.MIN_SAFE_INTEGER, tenant: '' as TenantId }

const isExact = ({ at, next }: StoredDue): boolean => at === next

const count = <E>(all: Iterable<E>, is: (one: E) => boolean): number => [...all].filter(is).length

const byTime = (a: DueTenant, b: DueTenant): number => a.at - b.at || compareText(a.tenant, b.tenant)
