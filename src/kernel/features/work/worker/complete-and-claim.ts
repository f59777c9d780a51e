// Commits that settle several claims and claim several items at once. Such a commit is applied whole or not at all.

import type { InkError } from '../../../../model/errors.ts'
import { decodeBody } from '../../../../model/rows.ts'
import type { WorkRow } from '../../../../model/work.ts'
import { storeNow } from '../../../time/store-time.ts'
import type { Scope } from '../../../wiring/scope.ts'
import { type DoneRow, type Part, plan } from '../../../writing/execute.ts'
import type { ClaimHandle } from '../claim.ts'
import { claimPart, held } from '../claim-item.ts'
import { retryWrite } from '../retry-write.ts'
import type { Candidate } from './prefetch.ts'

/** All items are of one tenant, and those to claim are plain. */
export async function completeAndClaim<T>(
  scope: Scope,
  ended: readonly ClaimHandle<T>[],
  next: readonly Candidate[],
  leaseMs: number,
): Promise<readonly ClaimHandle<T>[]> {
  const claims = next.map(({ row, item, seen }) => claimPart(scope, row, item, seen, leaseMs))
  const complete = (claim: ClaimHandle<T>) => claim.settlement({ verb: 'complete' }, 'completed')
  const rows = await settleTogether(
    scope,
    ended,
    complete,
    claims.map(({ own }) => own),
  )
  return claims.map(({ asked }, i) =>
    plainClaim<T>(scope, next[i] as Candidate, rows[ended.length + i] as DoneRow<WorkRow>, leaseMs, asked),
  )
}

/** Gives back claims whose handler never began: the attempt does not count, and the items keep their place in the queue. */
export async function giveBackUnused<T>(scope: Scope, claims: readonly ClaimHandle<T>[]): Promise<void> {
  const now = await storeNow(scope, false)
  await settleTogether(scope, claims, (claim) => claim.settlement({ verb: 'release', at: claim.dueAt ?? now, unused: true }, 'released'))
}

async function settleTogether<T>(
  scope: Scope,
  claims: readonly ClaimHandle<T>[],
  settlement: (claim: ClaimHandle<T>) => Part<WorkRow>,
  more: readonly Part<WorkRow>[] = [],
): Promise<readonly DoneRow<WorkRow>[]> {
  const settled: Part<WorkRow>[] = []
  try {
    for (const claim of claims) settled.push(settlement(claim))
    const { rows } = await plan(scope, [...settled, ...more], { once: true })
    for (const claim of claims) claim.letGo()
    return rows
  } catch (refusal) {
    // `settlement` throws for a claim that its handler has settled meanwhile. That claim and those behind it are unchanged.
    for (const claim of claims.slice(0, settled.length)) claim.unsettled(refusal)
    throw refusal
  }
}

/**
 * Finds out which items a commit with unknown outcome has claimed. It retries until the lease of these claims is over, counted from when the
 * commit was sent (`since`, by our monotonic clock), or until the worker leaves.
 */
export async function claimedAfterAll<T>(
  scope: Scope,
  next: readonly Candidate[],
  unknown: InkError,
  leaseMs: number,
  since: number,
  leaving: AbortSignal,
): Promise<readonly ClaimHandle<T>[]> {
  const { clock, logger } = scope.engine.environment
  const failed = (error: unknown) =>
    logger.warn('it could not be found out yet whether items were claimed', { items: next.length, error: String(error) })
  const events = new Set(unknown.details.ids as readonly string[])
  try {
    const rows = await retryWrite(scope, () => claimedBy(scope, next, events), {
      ms: leaseMs - (clock.monotonic() - since),
      leaving,
      failed,
    })
    return rows.map(({ candidate, row }) => plainClaim<T>(scope, candidate, row, leaseMs, since))
  } catch (error) {
    failed(error)
    return []
  }
}

/** The items whose last event is one of `events`. */
async function claimedBy(
  scope: Scope,
  next: readonly Candidate[],
  events: ReadonlySet<string>,
): Promise<readonly { readonly candidate: Candidate; readonly row: DoneRow<WorkRow> }[]> {
  const { rows, journal } = scope.engine.backend
  const claimed: { readonly candidate: Candidate; readonly row: DoneRow<WorkRow> }[] = []
  for (const candidate of next) {
    const stored = await rows.get(scope.tenant, 'work', candidate.row.id)
    if (!stored || stored.revision === candidate.row.revision) continue
    const { events: last } = await journal.page(scope.tenant, { from: stored.revision - 1, limit: 1 })
    if (last[0] && events.has(last[0].id))
      claimed.push({ candidate, row: { body: decodeBody(stored.body, stored), revision: stored.revision } })
  }
  return claimed
}

function plainClaim<T>(
  scope: Scope,
  { row: { id }, item }: Candidate,
  row: DoneRow<WorkRow>,
  leaseMs: number,
  asked: number,
): ClaimHandle<T> {
  return held<T>(scope, row, { id, dueAt: item.at, leaseMs, asked, renew: true })(item.payload?.value)
}
