// What writers were told, to be held against what the journal says: every acknowledged event is there, in its place, and none is there twice.

import type { Receipt, Store, TenantId } from '../../src/index.ts'

export class Ledger {
  readonly begun = new Set<number>()
  readonly acked = new Map<number, Pick<Receipt, 'seq' | 'hash'>>()
  /** How often a writer was told that the outcome is open. */
  open = 0
  #next = 0

  begin(): number {
    this.begun.add(this.#next)
    return this.#next++
  }

  /** As store.verify takes them. */
  receipts(tenant: TenantId): Receipt[] {
    return [...this.acked.values()].map(({ seq, hash }) => ({ seq, hash, id: '' as Receipt['id'], tenant }))
  }
}

export interface Judgement {
  readonly lost: readonly number[]
  readonly twice: readonly number[]
  /** Never acknowledged, and there all the same. */
  readonly landed: number
}

export async function judge(store: Store, ledger: Ledger): Promise<Judgement> {
  const found = new Map<number, Pick<Receipt, 'seq' | 'hash'>>()
  const twice: number[] = []
  for await (const { seq, hash, data } of store.events({ types: ['task.done'] })) {
    const { n } = data as { n: number }
    if (found.has(n)) twice.push(n)
    found.set(n, { seq, hash })
  }
  const lost = [...ledger.acked].filter(([n, { seq, hash }]) => found.get(n)?.seq !== seq || found.get(n)?.hash !== hash).map(([n]) => n)
  return { lost, twice, landed: [...ledger.begun].filter((n) => found.has(n) && !ledger.acked.has(n)).length }
}
