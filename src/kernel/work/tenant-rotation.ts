// Whose turn it is: of those who have something to do, whoever has waited longest for a turn comes first, however much the others have.

import type { TenantId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'

export class TenantRotation {
  /** When each was served last, or seen first: a newcomer waits for those who wait already, and they do not wait for the newcomers behind. */
  readonly #since = new Map<TenantId, number>()
  #count = 0

  served(tenant: TenantId): void {
    // Everybody begins anew then, and nobody waits longer than one round.
    if (this.#since.size >= limits.sessionsRemembered) this.#since.clear()
    this.#since.set(tenant, ++this.#count)
  }

  inTurn<T extends { readonly tenant: TenantId }>(due: readonly T[]): readonly T[] {
    for (const { tenant } of due) if (!this.#since.has(tenant)) this.served(tenant)
    return due.toSorted((a, b) => this.#waiting(a.tenant) - this.#waiting(b.tenant))
  }

  #waiting(tenant: TenantId): number {
    return this.#since.get(tenant) ?? 0
  }
}

/** So many of each, and again, until there is nothing left. */
export function dealt<T>(lists: readonly (readonly T[])[], atATime: number): T[] {
  if (lists.length <= 1) return [...(lists[0] ?? [])]
  const all: T[] = []
  for (let from = 0; lists.some((list) => list.length > from); from += atATime)
    for (const list of lists) all.push(...list.slice(from, from + atATime))
  return all
}
