// The state that this node knows of each tenant without asking: the head it wrote last, and the guards that held there. It stays true until
// another node writes, which the statement detects by the head under its lock.

import { fromHex } from '../../../model/bytes.ts'
import type { Receipt } from '../../../model/event.ts'
import type { TenantId } from '../../../model/ids.ts'
import type { Change, Commit, Guard, Outcome } from '../../../ports/commit.ts'
import { contentId } from '../pack-values.ts'
import { isFreeName } from './free-names.ts'
import { movesOf, type RowMoves } from './rows.ts'

export interface KnownHead {
  readonly seq: number
  readonly hash: Uint8Array
}

/** The state of the tenant that a batch builds on, as this node knows it. */
export interface Start {
  readonly head: KnownHead
  readonly moves: RowMoves
  /** Names that must be free. */
  readonly free: readonly string[]
  /** Ids of the content that guards name; absent if the batch has nothing to do with content. */
  readonly content?: readonly string[]
}

const TENANTS_MOST = 1000
const GUARDS_MOST = 10_000

interface Known {
  head: KnownHead
  /** No other node has written lately. If several nodes write, trying the fast path mostly costs a statement that writes nothing. */
  quiet: boolean
  /** Rows and fences as they are at the head. */
  readonly guards: Map<string, number>
}

export class KnownTenants {
  readonly #tenants = new Map<TenantId, Known>()

  /**
   * The head to start from, if the batch can take the fast path: nothing of it was sent before, and every guard is known to hold or is
   * checked by the statement.
   */
  headFor(batch: readonly Commit[]): Start | undefined {
    const tenant = batch[0]?.tenant
    const known = tenant === undefined ? undefined : this.#tenants.get(tenant)
    if (!known?.quiet) return undefined
    const free = new Set<string>()
    const named = new Set<string>()
    let hasContent = false
    for (const { changes, key, guards, events, nodes, since = Number.MAX_SAFE_INTEGER } of batch) {
      if (key || events.length === 0 || since < known.head.seq) return undefined
      hasContent ||= nodes !== undefined || events.some(({ refs }) => refs)
      let changed: Set<string> | undefined
      for (const guard of guards) {
        if (guard.kind === 'quiet') return undefined
        if (guard.kind === 'value' || guard.kind === 'blob') {
          named.add(contentId(guard))
          continue
        }
        const seen = known.guards.get(nameOf(guard))
        if (seen === wantedBy(guard)) continue
        // The guard does not hold. The function says so.
        if (seen !== undefined) return undefined
        changed ??= changedBy(changes)
        if (guard.kind === 'row' && changed.has(nameOf(guard))) continue
        if (!isFreeName(guard)) return undefined
        free.add(guard.id)
      }
    }
    const moves = movesOf(batch, known.head.seq)
    return moves && { head: known.head, moves, free: [...free], ...((hasContent || named.size > 0) && { content: [...named] }) }
  }

  /** Remembers a batch that the commit function applied. Nothing else was written between `base` and its end. */
  learn(batch: readonly Commit[], outcomes: readonly Outcome[], base: number): void {
    const tenant = batch[0]?.tenant as TenantId
    const last = outcomes.findLast((o) => o.ok && !o.repeated && o.receipts.length > 0)
    const receipt = last?.ok ? last.receipts.at(-1) : undefined
    const before = this.#tenants.get(tenant)
    const quiet = before === undefined || before.head.seq === base
    // A later batch of this node was answered first.
    if (!quiet && (receipt?.seq ?? 0) <= before.head.seq) return
    if (quiet && before) {
      before.quiet = true
      if (receipt) before.head = headAt(receipt)
      this.#note(before, batch, outcomes)
    } else if (receipt) {
      const known = { head: headAt(receipt), quiet, guards: new Map<string, number>() }
      this.#note(known, batch, outcomes)
      if (this.#tenants.size >= TENANTS_MOST) this.#tenants.delete(this.#tenants.keys().next().value as TenantId)
      this.#tenants.set(tenant, known)
    }
  }

  /** After a batch without row changes the head has moved, and every known guard still holds. */
  moved(tenant: TenantId, from: KnownHead, to: KnownHead): void {
    const known = this.#tenants.get(tenant)
    if (known?.head === from) known.head = to
  }

  forget(tenant: TenantId): void {
    this.#tenants.delete(tenant)
  }

  /** No two commits of a batch touch the same row, so their order does not matter. */
  #note({ guards: known }: Known, batch: readonly Commit[], outcomes: readonly Outcome[]): void {
    if (known.size > GUARDS_MOST) known.clear()
    for (const [i, { guards, changes }] of batch.entries()) {
      const outcome = outcomes[i]
      if (!outcome?.ok || outcome.repeated) continue
      for (const guard of guards)
        if ((guard.kind === 'row' || guard.kind === 'fence') && !isFreeName(guard)) known.set(nameOf(guard), wantedBy(guard))
      for (const change of changes) {
        if (change.kind !== 'put' && change.kind !== 'remove') continue
        const { table, id } = change
        const seq = change.kind === 'put' && change.event !== undefined ? outcome.receipts[change.event]?.seq : undefined
        if (seq === undefined) known.delete(nameOf({ kind: 'row', table, id }))
        else known.set(nameOf({ kind: 'row', table, id }), seq)
        if (change.kind === 'remove') known.delete(nameOf({ kind: 'fence', table, id }))
        else if (change.grants && seq !== undefined) known.set(nameOf({ kind: 'fence', table, id }), seq)
      }
    }
  }
}

const changedBy = (changes: readonly Change[]): Set<string> =>
  new Set(changes.flatMap((change) => ('table' in change ? [nameOf({ kind: 'row', table: change.table, id: change.id })] : [])))

const headAt = ({ seq, hash }: Receipt): KnownHead => ({ seq, hash: fromHex(hash) })

type RowGuard = Extract<Guard, { kind: 'row' | 'fence' }>

const nameOf = ({ kind, table, id }: Pick<RowGuard, 'kind' | 'table' | 'id'>): string => `${kind} ${table} ${id}`
const wantedBy = (guard: RowGuard): number => (guard.kind === 'row' ? guard.revision : guard.fence)
