// Whose turn it is: of those who have something to do, whoever was served longest ago comes first, however much the others have.

import type { TenantId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'

export class Rota {
  readonly #served = new Map<TenantId, number>()
  #count = 0

  served(tenant: TenantId): void {
    // Everybody begins anew then, and nobody waits longer than one round.
    if (this.#served.size >= limits.sessionsRemembered && !this.#served.has(tenant)) this.#served.clear()
    this.#served.set(tenant, ++this.#count)
  }

  /** Those that were never served come first, in the order in which they were given. */
  inTurn<T extends { readonly tenant: TenantId }>(due: readonly T[]): readonly T[] {
    return due.toSorted((a, b) => this.#last(a.tenant) - this.#last(b.tenant))
  }

  #last(tenant: TenantId): number {
    return this.#served.get(tenant) ?? 0
  }
}

/** So many of each, and again, until there is nothing left. */
export function dealt<T>(lists: readonly (readonly T[])[], atATime: number): readonly T[] {
  if (lists.length <= 1) return lists[0] ?? []
  const all: T[] = []
  for (let from = 0; lists.some((list) => list.length > from); from += atATime)
    for (const list of lists) all.push(...list.slice(from, from + atATime))
  return all
}
