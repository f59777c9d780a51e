// Several items in one commit: those that have ended are settled, and the next ones are claimed. All of it, or nothing.

import { plan } from '../execute.ts'
import type { Scope } from '../scope.ts'
import type { Candidate } from './ahead.ts'
import { type HeldClaim, inHand, takingAlone } from './claim.ts'
import { storeNow } from './now.ts'

/** Of one tenant, and nobody follows any of them. Those that were claimed come in hand one by one: what it says may lie elsewhere. */
export async function completeAndTake<T>(
  scope: Scope,
  ended: readonly HeldClaim<T>[],
  next: readonly Candidate[],
  leaseMs: number,
): Promise<readonly Promise<HeldClaim<T>>[]> {
  const takings = next.map(({ row, item, seen }) => takingAlone(scope, row, item, seen, leaseMs))
  const settled = ended.map((claim) => claim.settlement({ verb: 'complete' }, 'completed'))
  const { rows } = await together(ended, () => plan(scope, [...settled, ...takings.map(({ own }) => own)], { once: true }))
  return takings.map(({ asked }, i) => {
    const [row, candidate] = [rows[ended.length + i], next[i]]
    return inHand<T>(scope, row as NonNullable<typeof row>, (candidate as Candidate).row.id, leaseMs, asked, true)
  })
}

/** Nobody got to them: the attempt does not count. */
export async function giveBackUnused<T>(scope: Scope, claims: readonly HeldClaim<T>[]): Promise<void> {
  const at = await storeNow(scope, false)
  const settled = claims.map((claim) => claim.settlement({ verb: 'release', at, unused: true }, 'released'))
  await together(claims, () => plan(scope, settled, { once: true }))
}

async function together<T, R>(claims: readonly HeldClaim<T>[], write: () => Promise<R>): Promise<R> {
  try {
    const done = await write()
    for (const claim of claims) claim.letGo()
    return done
  } catch (refusal) {
    for (const claim of claims) claim.unsettled(refusal)
    throw refusal
  }
}
