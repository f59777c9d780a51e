// The inbox of a session as a few lines of arithmetic: what lies in it, who has it in hand, and what comes next, from the rules and not from the
// code. It knows no store; what it expects is held against one.

import fc from 'fast-check'
import type { InboxClaim } from '../../src/index.ts'

export type Who = 'ada' | 'bob'
export const LEASE_MS = 30_000

export interface Ask {
  readonly kind: 'turn' | 'command'
  readonly at: 'boundary' | 'idle'
  readonly most: number
}

export interface Batch {
  readonly n: number
  readonly kind: 'turn' | 'command'
  readonly delivery: 'boundary' | 'afterTurn'
  readonly join: boolean
  readonly merge: string | undefined
  readonly due: number
  state: 'pending' | 'claimed' | 'completed' | 'cancelled'
  claim?: { readonly group: object; readonly turn: number; readonly generation: number } | undefined
}

export type Step = { readonly ask: Ask; readonly answer: InboxClaim } | { readonly done: string } | { readonly released: string }

export interface Turn {
  readonly number: number
  over: boolean
  readonly script: Step[]
  /** What it has in hand, or believes to have. */
  claims: { readonly id: string; readonly batches: readonly number[] }[]
}

export class Model {
  now = 0
  /** Grows whenever the session's lease is taken. */
  generation = 0
  readonly batches: Batch[] = []
  readonly turns: Turn[] = []
  holder: Who | undefined
  heldUntil = 0
  readonly open: Partial<Record<Who, Turn>> = {}
  /** Claims by the id the store gave them. */
  readonly groups = new Map<string, object>()

  get isHeld(): boolean {
    return this.holder !== undefined && this.heldUntil > this.now
  }

  holds(who: Who): boolean {
    return this.open[who] !== undefined && this.holder === who
  }

  of(turn: Turn): readonly Batch[] {
    return this.batches.filter(({ state, claim }) => state === 'claimed' && claim?.turn === turn.number)
  }

  /** All of the claim is still in its hands. */
  has(turn: Turn, id: string): boolean {
    const batches = turn.claims.find((claim) => claim.id === id)?.batches ?? []
    return batches.every((n) => {
      const { state, claim } = this.batches[n] as Batch
      return state === 'claimed' && claim?.turn === turn.number && claim.group === this.groups.get(id)
    })
  }

  /** What it lost and gets anew is in its hands once. */
  got(turn: Turn, id: string, batches: readonly number[]): void {
    const others = turn.claims.map((one) => ({ id: one.id, batches: one.batches.filter((n) => !batches.includes(n)) }))
    turn.claims = [...others.filter((one) => one.id !== id && one.batches.length > 0), { id, batches }]
  }

  claim(
    turn: Turn,
    { kind, at, most }: Ask,
  ): { readonly why: string } | { readonly batches: readonly Batch[]; readonly group: object; readonly redriven: boolean } {
    const interrupted = ({ state, claim }: Batch) =>
      state === 'claimed' && claim !== undefined && claim.generation < this.generation && claim.turn !== turn.number
    const ready = this.batches.filter((batch) => (batch.state === 'pending' && batch.due <= this.now) || interrupted(batch))
    const [head] = ready
    if (!head) {
      if (this.batches.some(({ state }) => state === 'claimed')) return { why: 'held' }
      return { why: this.batches.some(({ state }) => state === 'pending') ? 'notDue' : 'empty' }
    }
    if (head.kind !== kind) return { why: head.kind === 'command' ? 'commandAtHead' : 'turnAtHead' }
    if (at === 'boundary' && head.delivery === 'afterTurn') return { why: 'boundary' }
    const { claim } = head
    const group = claim?.group ?? {}
    let batches = [head]
    if (claim) batches = ready.filter((batch) => batch.claim?.group === claim.group)
    else if (kind === 'turn' && head.join) {
      const alike = (b: Batch) =>
        b.state === 'pending' && b.kind === 'turn' && b.join && b.delivery === head.delivery && b.merge === head.merge
      const other = ready.findIndex((batch) => !alike(batch))
      batches = ready.slice(0, Math.min(most, other < 0 ? ready.length : other))
    }
    for (const batch of batches) {
      batch.state = 'claimed'
      batch.claim = { group, turn: turn.number, generation: this.generation }
    }
    return { batches, group, redriven: claim !== undefined }
  }
}

export const often = <T>(times: number, one: T): readonly T[] => Array.from({ length: times }, () => one)

export const who = fc.constantFrom<Who>('ada', 'bob')
const kind = fc.constantFrom(...often(6, 'turn' as const), 'command' as const)
export const given = fc.record({
  kind,
  delivery: fc.constantFrom('boundary' as const, 'boundary' as const, 'afterTurn' as const),
  join: fc.constantFrom(true, true, false),
  merge: fc.constantFrom(undefined, undefined, 'm'),
})
export const ask = fc.record({ kind, at: fc.constantFrom('boundary' as const, 'idle' as const), most: fc.constantFrom(1, 2, 64) })
