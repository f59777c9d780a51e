// The last events of a tenant, in memory. They come from this node's own commits at once, and from the journal when another node may have
// written.

import { fromHex, utf8 } from '../../model/bytes.ts'
import { InkError } from '../../model/errors.ts'
import type { Event, EventDraft, EventRecord, Receipt } from '../../model/event.ts'
import type { TenantId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import type { TenantState } from '../../model/tenant.ts'
import type { Commit } from '../../ports/commit.ts'
import { deny } from '../proof/audit-trail.ts'
import type { Scope } from '../wiring/scope.ts'
import { decodeEvent } from './decode-event.ts'

// The longest delay until events of another node show up here, after the backend's wakeup.
const CATCH_UP_MS = 25
// The delay after a failed look. It doubles with every failure.
const AGAIN_MS = 1000
const AGAIN_MOST_MS = 60_000
// The list is trimmed now and then, not with every event.
const SLACK = 28

// Own commits are kept as they were sent, and become records only on demand, because every append passes here.
type Held = EventRecord | { readonly seq: number; readonly draft: EventDraft; readonly receipt: Receipt }

function recordOf(held: Held): EventRecord {
  if (!('draft' in held)) return held
  const { event: _, ...draft } = held.draft
  return { ...draft, payload: utf8(draft.payload), seq: held.seq, hash: fromHex(held.receipt.hash) }
}

export class Recent {
  readonly #scope: Scope
  #held: Held[] = []
  // The state of a closed tenant, as far as this node knows.
  #closed: TenantState | undefined
  // Counts closings and erasures. A page that was read before the last one is dropped.
  #generation = 0
  #catchingUp = false
  // Looks are numbered as they begin. This is the latest that has finished.
  #asked = 0
  #answered = 0
  #againMs = AGAIN_MS
  #ended = false
  readonly #stop: () => void

  constructor(scope: Scope) {
    this.#scope = scope
    this.#stop = scope.engine.backend.wakeups.watch(scope.tenant, () => this.#catchUpSoon(), { patient: true, others: true })
    this.#catchUp(Promise.resolve())
  }

  /** Returns the events, oldest first. */
  read(): readonly Event[] {
    if (this.#closed) throw deny(this.#scope, 'TENANT_CLOSED', { tenant: this.#scope.tenant, state: this.#closed })
    return this.#held.slice(-limits.recentEvents).map((held) => decodeEvent(this.#scope.tenant, recordOf(held)))
  }

  async fill(): Promise<void> {
    const { journal } = this.#scope.engine.backend
    const [generation, asked] = [this.#generation, ++this.#asked]
    const page = await journal
      .page(this.#scope.tenant, { from: Number.MAX_SAFE_INTEGER, backwards: true, limit: limits.recentEvents })
      .catch(closingOf)
    // This page is older than a closing, an erasure, or a later look that was quicker, so it is dropped.
    if (generation !== this.#generation) return this.#catchUpSoon()
    if (asked < this.#answered) return
    this.#answered = asked
    if ('closed' in page) {
      if (this.#closed !== page.closed) this.#setClosed(page.closed)
      return
    }
    this.#closed = undefined
    const newest = page.events[0]?.seq ?? 0
    // These were saved here while the page was being read.
    const since = this.#held.filter(({ seq }) => seq > newest)
    if (since[0] && since[0].seq > newest + 1) this.#catchUpSoon()
    else this.#held = [...page.events.toReversed(), ...since]
  }

  /** Adds a commit of this node that was just saved. */
  note({ events, changes }: Commit, receipts: readonly Receipt[]): void {
    for (const change of changes) {
      if (change.kind === 'erase') this.#forget(new Set(change.seqs))
      if (change.kind === 'state' && change.state === 'active') this.#setClosed(undefined)
    }
    this.#add(events, receipts)
    for (const change of changes) if (change.kind === 'state' && change.state !== 'active') this.#setClosed(change.state)
  }

  /** Drops the events of a closed tenant from memory. */
  #setClosed(closed: TenantState | undefined): void {
    this.#closed = closed
    this.#generation++
    this.#held = []
    this.#scope.engine.closedTenants.heard(this.#scope.tenant)
  }

  /** Drops erased payloads from memory too. */
  #forget(seqs: ReadonlySet<number>): void {
    this.#generation++
    this.#held = this.#held.map((held) => (seqs.has(held.seq) ? { ...recordOf(held), payload: undefined, salt: undefined } : held))
  }

  #add(drafts: readonly EventDraft[], receipts: readonly Receipt[]): void {
    const last = this.#held.at(-1)?.seq ?? 0
    const first = receipts[0]?.seq ?? 0
    if (first <= last) return
    // The commit was saved, so the tenant was active then. The journal knows whether it still is.
    if (this.#closed) {
      this.#catchUpSoon()
      return
    }
    // A gap means that another node wrote in between. Until the journal is read, the events of this node are shown.
    if (first > last + 1) {
      this.#held = []
      this.#catchUpSoon()
    }
    for (let i = Math.max(0, drafts.length - limits.recentEvents); i < drafts.length; i++) {
      const draft = drafts[i] as EventDraft
      const receipt = receipts[i] as Receipt
      this.#held.push({ seq: receipt.seq, draft, receipt })
    }
    if (this.#held.length > limits.recentEvents + SLACK) this.#held = this.#held.slice(-limits.recentEvents)
  }

  close(): void {
    this.#ended = true
    this.#stop()
  }

  #catchUpSoon(): void {
    const { environment, closing } = this.#scope.engine
    if (!this.#catchingUp) this.#catchUp(environment.timer.idly(CATCH_UP_MS, closing))
  }

  #catchUp(when: Promise<void>): void {
    this.#catchingUp = true
    const { environment, backend, closing } = this.#scope.engine
    when
      .then(async () => {
        this.#catchingUp = false
        const head = await backend.journal.head(this.#scope.tenant)
        const wanted = Math.min(head.seq, limits.recentEvents)
        if (head.seq > (this.#held.at(-1)?.seq ?? 0) || this.#held.length < wanted) await this.fill()
        this.#againMs = AGAIN_MS
      })
      .catch((error) => {
        this.#catchingUp = false
        // A closing store needs no recent events. Any other error is logged and retried, because no wakeup may follow.
        if (closing.aborted || this.#ended) return
        environment.logger.warn('recent events could not be read', { error: String(error) })
        this.#catchUp(environment.timer.idly(this.#againMs, closing))
        this.#againMs = Math.min(this.#againMs * 2, AGAIN_MOST_MS)
      })
  }
}

function closingOf(error: unknown): { readonly closed: TenantState } {
  if (error instanceof InkError && error.code === 'TENANT_CLOSED') return { closed: error.details.state as TenantState }
  throw error
}

// A node may serve any number of tenants. Only the last ones are kept.
const TENANTS_HELD = 64

export class Recents {
  readonly #byTenant = new Map<TenantId, Recent>()

  get(tenant: TenantId): Recent | undefined {
    return this.#byTenant.get(tenant)
  }

  of(scope: Scope): Recent {
    const recent = this.#byTenant.get(scope.tenant) ?? new Recent(scope)
    this.#byTenant.delete(scope.tenant)
    this.#byTenant.set(scope.tenant, recent)
    if (this.#byTenant.size > TENANTS_HELD) {
      const [oldest, dropped] = this.#byTenant.entries().next().value as [TenantId, Recent]
      dropped.close()
      this.#byTenant.delete(oldest)
    }
    return recent
  }

  close(): void {
    for (const recent of this.#byTenant.values()) recent.close()
    this.#byTenant.clear()
  }
}
