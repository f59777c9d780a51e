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

// So many wrong times are left as they are, because raising them is a write: a queue that is used again and again writes nothing.
const LEFT_EARLY_MOST = 16
// At most so many tenants are compared beyond those that are asked for.
const COMPARED = 1000

// So often it begins again after it has raised what was too early: each time a thousand tenants more.
const ROUNDS = 20

export interface StoredTimes {
  /** Reads stored times behind a place, in the order of time and tenant. */
  readonly read: (after: Place, limit: number) => Promise<readonly StoredDue[]>
  /** Raises the times of these tenants to their items, as they are then. Absent in a store that was opened to be read. */
  readonly raise?: ((tenants: readonly TenantId[]) => Promise<void>) | undefined
}

type Place = Pick<DueTenant, 'at' | 'tenant'>

export async function findDue(times: StoredTimes, limit: number): Promise<readonly DueTenant[]> {
  for (let round = 1; ; round++) {
    const { told, early, isEnough } = await walk(times, limit)
    if (early.length > 0) await times.raise?.(early)
    if (isEnough || !times.raise || round === ROUNDS) return told
  }
}

interface Walked {
  readonly told: readonly DueTenant[]
  /** Tenants that are stored too early. Empty while they are few: each costs a look only one seek. */
  readonly early: readonly TenantId[]
  /** False if so many were too early that the way ended before enough were found. */
  readonly isEnough: boolean
}

async function walk({ read }: StoredTimes, limit: number): Promise<Walked> {
  const seen = new Map<TenantId, StoredDue>()
  const left = Math.min(limit, LEFT_EARLY_MOST)
  const size = limit + left
  let [exact, isAll] = [0, limit === 0]
  for (let after = START; !isAll && exact < limit && seen.size < limit + COMPARED; ) {
    const page = await read(after, size)
    for (const one of page) seen.set(one.tenant, one)
    exact = count(seen.values(), isExact)
    isAll = page.length < size
    after = page.at(-1) ?? after
  }
  const early = [...seen.values()].filter((one) => !isExact(one)).map(({ tenant }) => tenant)
  const isEnough = isAll || exact >= limit
  return { told: tell([...seen.values()], limit, isEnough), early: early.length > left ? early : [], isEnough }
}

/**
 * The tenants on the way, in the order of their earliest items. Those that are due behind the last place of the way give way to tenants that
 * were not met. If the way ended too soon, tenants that are stored too early are told as they are stored.
 */
function tell(seen: readonly StoredDue[], limit: number, isEnough: boolean): readonly DueTenant[] {
  const told = isEnough ? seen.flatMap(({ tenant, next }) => (next === undefined ? [] : [{ tenant, at: next }])) : seen
  return told
    .map(({ tenant, at }) => ({ tenant, at }))
    .sort(byTime)
    .slice(0, limit)
}

const START: Place = { at: Number.MIN_SAFE_INTEGER, tenant: '' as TenantId }

const isExact = ({ at, next }: StoredDue): boolean => at === next

const count = <E>(all: Iterable<E>, is: (one: E) => boolean): number => [...all].filter(is).length

const byTime = (a: DueTenant, b: DueTenant): number => a.at - b.at || compareText(a.tenant, b.tenant)
