// Several items in one commit: those that have ended are settled, and the next ones are claimed. All of it, or nothing.

import type { InkError } from '../../../model/errors.ts'
import { decodeBody } from '../../../model/rows.ts'
import type { WorkRow } from '../../../model/work.ts'
import { type DoneRow, type Part, plan } from '../../execute.ts'
import type { Scope } from '../../scope.ts'
import { storeNow } from '../../store-time.ts'
import type { HeldClaim } from '../claim.ts'
import { claimPart, toClaim } from '../claim-item.ts'
import type { Candidate } from './prefetch.ts'

/** What an item says may lie elsewhere, and come later than the others. */
export interface Arriving<T> {
  readonly id: string
  readonly claim: HeldClaim<T> | Promise<HeldClaim<T>>
}

/** Of one tenant, and nobody follows any of them. */
export async function completeAndTake<T>(
  scope: Scope,
  ended: readonly HeldClaim<T>[],
  next: readonly Candidate[],
  leaseMs: number,
): Promise<readonly Arriving<T>[]> {
  const takings = next.map(({ row, item, seen }) => claimPart(scope, row, item, seen, leaseMs))
  const claims = takings.map(({ own }) => own)
  const complete = (claim: HeldClaim<T>) => claim.settlement({ verb: 'complete' }, 'completed')
  const { rows } = await together(ended, complete, (settled) => plan(scope, [...settled, ...claims], { once: true }))
  return takings.map(({ asked }, i) => {
    const [done, { row, item }] = [rows[ended.length + i], next[i] as Candidate]
    const { id } = row
    return { id, claim: toClaim<T>(scope, done as NonNullable<typeof done>, { id, dueAt: item.at, leaseMs, asked, renew: true }) }
  })
}

/** Nobody got to them: the attempt does not count, and they keep their place. */
export async function giveBackUnused<T>(scope: Scope, claims: readonly HeldClaim<T>[]): Promise<void> {
  const now = await storeNow(scope, false)
  const release = (claim: HeldClaim<T>) => claim.settlement({ verb: 'release', at: claim.dueAt ?? now, unused: true }, 'released')
  await together(claims, release, (settled) => plan(scope, settled, { once: true }))
}

async function together<T, R>(
  claims: readonly HeldClaim<T>[],
  settle: (claim: HeldClaim<T>) => Part<WorkRow>,
  write: (settled: readonly Part<WorkRow>[]) => Promise<R>,
): Promise<R> {
  const settled: Part<WorkRow>[] = []
  try {
    for (const claim of claims) settled.push(settle(claim))
    const done = await write(settled)
    for (const claim of claims) claim.letGo()
    return done
  } catch (refusal) {
    // One that was settled by its handler meanwhile stays as it is, and so do those behind it.
    for (const claim of claims.slice(0, settled.length)) claim.unsettled(refusal)
    throw refusal
  }
}

const REST_MS = 50

/**
 * Nobody knew whether these were claimed: where they were, they are in hand. Asked for as long as they would be, which is a lease from when they were
 * sent (`since`, by our steady clock), or until nobody wants to know any more.
 */
export async function claimedAfterAll<T>(
  scope: Scope,
  next: readonly Candidate[],
  unknown: InkError,
  leaseMs: number,
  since: number,
  leaving: AbortSignal,
): Promise<readonly Arriving<T>[]> {
  const events = new Set(unknown.details.ids as readonly string[])
  const { clock, timer, logger } = scope.engine.environment
  for (let rest = REST_MS; clock.monotonic() - since < leaseMs && !leaving.aborted; rest *= 2) {
    try {
      return await claimedBy<T>(scope, next, events, leaseMs, since)
    } catch (error) {
      // A moment later perhaps.
      logger.warn('it could not be found out yet whether items were claimed', { items: next.length, error: String(error) })
      await timer.after(rest, leaving).catch(() => {})
    }
  }
  return []
}

async function claimedBy<T>(
  scope: Scope,
  next: readonly Candidate[],
  events: ReadonlySet<string>,
  leaseMs: number,
  asked: number,
): Promise<readonly Arriving<T>[]> {
  const { rows, journal } = scope.engine.backend
  const ours: { readonly id: string; readonly dueAt: number | undefined; readonly row: DoneRow<WorkRow> }[] = []
  for (const { row, item } of next) {
    const stored = await rows.get(scope.tenant, 'work', row.id)
    if (!stored || stored.revision === row.revision) continue
    const { events: last } = await journal.page(scope.tenant, { from: stored.revision - 1, limit: 1 })
    if (!last[0] || !events.has(last[0].id)) continue
    ours.push({ id: row.id, dueAt: item.at, row: { body: decodeBody(stored.body), revision: stored.revision } })
  }
  return ours.map(({ id, dueAt, row }) => ({ id, claim: toClaim<T>(scope, row, { id, dueAt, leaseMs, asked, renew: true }) }))
}
