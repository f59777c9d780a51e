// The store as users see it: one tenant's journal and the rows folded from it.

import { hex } from '../model/bytes.ts'
import type { Event, Receipt } from '../model/event.ts'
import { MAIN, type TenantId, tenantId } from '../model/ids.ts'
import { checkKnown, optionsOf, ownMembers } from '../model/options.ts'
import type { TypeUsage } from '../model/queries.ts'
import type { EventOf } from '../model/standard-events.ts'
import type { TenantState } from '../model/tenant.ts'
import type { Backend, BackendTraits } from '../ports/backend.ts'
import type { Environment } from '../ports/environment.ts'
import type { Measure } from '../ports/upkeep.ts'
import { StoreLifetime } from './close-store.ts'
import { type StoreBlobs, storeBlobs } from './content/blobs.ts'
import { dataOf } from './content/large-data.ts'
import { createEngine } from './engine.ts'
import { features, type StoreMembers } from './features.ts'
import { type Health, health } from './measuring/health.ts'
import type { KernelOptions } from './options.ts'
import { deny } from './proof/audit-trail.ts'
import { type EraseOptions, type EraseReport, erase } from './proof/erase.ts'
import { type RebuildOptions, type RebuildReport, rebuild } from './proof/rebuild.ts'
import { type VerifyOptions, type VerifyReport, verify } from './proof/verify.ts'
import { type KeysReport, verifyKeys } from './proof/verify-keys.ts'
import { checkReferences } from './proof/verify-references.ts'
import { whileWanted } from './reading/abortable.ts'
import { type EventKey, findEvent } from './reading/find-event.ts'
import { type EventPage, type EventQuery, pageEvents, readEvents } from './reading/read-events.ts'
import { Recents } from './reading/recent-events.ts'
import { type AheadReport, ahead } from './time/ahead-of-clock.ts'
import { type MaintenanceReport, maintain } from './time/maintain.ts'
import { type AsOptions, actingAs } from './wiring/acting-as.ts'
import { listTenants, type TenantsOptions } from './wiring/list-tenants.ts'
import { checkOpen, type Scope } from './wiring/scope.ts'
import { setTenantState } from './wiring/tenant.ts'
import { withMembers } from './wiring/with-members.ts'
import { appendAll, type NewEvent } from './writing/append.ts'
import { telling } from './writing/draft.ts'
import type { LaneStats } from './writing/lane.ts'

export interface Stats extends LaneStats {
  readonly backend: string
}

/** The members of a store that belong to no feature. */
export interface JournalStore extends AsyncDisposable {
  readonly name: string
  readonly traits: BackendTraits
  readonly tenantId: TenantId
  /** The same store, restricted to another tenant. */
  tenant(id: string): Store
  /** The same store, with this actor on every event. With `own`, sessions of other owners cannot be listed, found or opened. */
  as(actor: string, options?: AsOptions): Store
  /** Blobs: bytes named by their digest, for content too large for an event. */
  readonly blobs: StoreBlobs
  /** Appends all events or none, with contiguous seqs. */
  appendAll(events: readonly NewEvent[], options?: { readonly key?: string }): Promise<readonly Receipt[]>
  /** Reads events. With `types`, the data of standard types is typed: comparing `event.type` narrows it. */
  events<const Type extends string = string>(query?: EventQuery<Type>): AsyncGenerator<EventOf<Type>, void, undefined>
  /** Returns one page of events, with a cursor for the next. */
  page<const Type extends string = string>(query?: Omit<EventQuery<Type>, 'live'> & { readonly cursor?: string }): Promise<EventPage<Type>>
  /** Finds one event by its id, or by its idempotency key: of `append` with a session, of `appendAll` without. */
  event(wanted: string | EventKey): Promise<Event | undefined>
  /** Reads the data of an event, from its blob if it was too large for the event. */
  data<Data = unknown>(event: Event<Data>): Promise<Data | undefined>
  /** Returns the last hundred events from memory, oldest first. */
  recent(): readonly Event[]
  head(): Promise<{ readonly seq: number; readonly hash: string }>
  /**
   * Store time in Unix milliseconds, without a query: the time that the store gave with its last commit, plus the time since. Before this
   * node's first commit it is the node's own clock.
   */
  now(): number
  erase(options: EraseOptions): Promise<EraseReport>
  verify(options?: VerifyOptions): Promise<VerifyReport>
  /** Checks the receipts of idempotency keys alone. `verify` does the same after the journal. */
  verifyKeys(options?: { readonly signal?: AbortSignal }): Promise<KeysReport>
  rebuild(options?: RebuildOptions): Promise<RebuildReport>
  /** Tenants with events, including closed ones, in the order of their ids. Without a limit, all of them. */
  tenants(options?: TenantsOptions): Promise<readonly TenantId[]>
  tenantState(id: string): Promise<TenantState>
  /**
   * Closes a tenant or reopens it. While it is not active, every node refuses all calls about it with TENANT_CLOSED. `deleted` is final. An
   * event in its own journal records the change and the reason.
   */
  setTenantState(id: string, state: TenantState, options: { readonly reason: string }): Promise<void>
  /** Events and payload bytes by event type. */
  types(): Promise<readonly TypeUsage[]>
  measure(): Promise<Measure>
  /** Finds damage below the journal (pages, indexes), and references that are not what the events say. Empty when sound. */
  check(options?: { readonly signal?: AbortSignal }): Promise<readonly string[]>
  /** Finds events and work items ahead of the store's clock. A clock that was wrong left them. */
  ahead(): Promise<AheadReport>
  maintain(options?: { readonly signal?: AbortSignal }): Promise<MaintenanceReport>
  stats(): Stats
  health(): Promise<Health>
  close(): Promise<void>
}

export interface Store extends JournalStore, StoreMembers {}

export async function createStore(backend: Backend, environment: Environment, options: KernelOptions = {}): Promise<Store> {
  const recents = new Recents()
  const closing = new AbortController()
  const engine = await createEngine(backend, environment, ownMembers(options), features, closing.signal, (commit, outcome) => {
    recents.get(commit.tenant)?.note(commit, outcome.receipts)
    if (commit.changes.some((change) => change.kind === 'state')) engine.closedTenants.heard(commit.tenant)
  })
  const scope = { engine, tenant: MAIN, actor: '' }
  try {
    await recents.of(scope).fill()
  } catch (error) {
    // A damaged file is not served, except read-only, for inspecting the damage.
    if (!options.readOnly) throw error
  }
  return new StoreView(scope, new StoreLifetime(engine, closing, recents), { root: true, walled: false })
}

interface View {
  /** Only the view that was opened closes the store. */
  readonly root: boolean
  /** A view of one tenant cannot see other tenants. */
  readonly walled: boolean
}

class StoreView extends withMembers<StoreMembers>() implements Store {
  readonly #scope: Scope
  readonly #life: StoreLifetime
  readonly #root: boolean
  readonly #walled: boolean

  constructor(scope: Scope, life: StoreLifetime, { root, walled }: View) {
    super()
    this.#scope = scope
    this.#life = life
    this.#root = root
    this.#walled = walled
    scope.engine.features.addStoreMembers(this, scope, walled ? scope.tenant : undefined)
  }

  get name(): string {
    return this.#scope.engine.backend.name
  }
  get traits(): BackendTraits {
    return this.#scope.engine.backend.traits
  }
  get tenantId(): TenantId {
    return this.#scope.tenant
  }

  tenant(id: string): Store {
    checkOpen(this.#scope.engine)
    const scope = { ...this.#scope, tenant: telling(this.#scope, () => tenantId(id)) }
    if (scope.tenant !== this.#scope.tenant) this.#beyondWall('tenant()')
    // Start filling now, so that the first `recent()` finds events.
    this.#life.recents.of(scope)
    return new StoreView(scope, this.#life, { root: false, walled: true })
  }

  as(actor: string, options?: AsOptions): Store {
    return new StoreView(actingAs(this.#scope, actor, options), this.#life, { root: false, walled: this.#walled })
  }

  readonly blobs = storeBlobs(() => this.#scope)

  async appendAll(events: readonly NewEvent[], options?: { readonly key?: string }): Promise<readonly Receipt[]> {
    const { key, ...unknown } = optionsOf(options, 'appendAll')
    checkKnown(unknown, 'appendAll')
    return appendAll(this.#scope, events, key)
  }

  events<Type extends string>(query?: EventQuery<Type>): AsyncGenerator<EventOf<Type>, void, undefined> {
    return readEvents(this.#scope, query) as AsyncGenerator<EventOf<Type>, void, undefined>
  }

  page<Type extends string>(query?: Omit<EventQuery<Type>, 'live'> & { readonly cursor?: string }): Promise<EventPage<Type>> {
    return pageEvents(this.#scope, query) as Promise<EventPage<Type>>
  }

  event(wanted: string | EventKey): Promise<Event | undefined> {
    return findEvent(this.#scope, wanted)
  }

  data<Data = unknown>(event: Event<Data>): Promise<Data | undefined> {
    return dataOf(this.#scope, event)
  }

  recent(): readonly Event[] {
    checkOpen(this.#scope.engine)
    return this.#life.recents.of(this.#scope).read()
  }

  async head(): Promise<{ readonly seq: number; readonly hash: string }> {
    checkOpen(this.#scope.engine)
    const head = await this.#scope.engine.backend.journal.head(this.#scope.tenant)
    return { seq: head.seq, hash: hex(head.hash) }
  }

  now(): number {
    checkOpen(this.#scope.engine)
    return this.#scope.engine.lane.storeTime()
  }

  erase(options: EraseOptions): Promise<EraseReport> {
    return erase(this.#scope, options)
  }

  async verify(options?: VerifyOptions): Promise<VerifyReport> {
    checkOpen(this.#scope.engine)
    return verify(this.#scope, optionsOf(options, 'verify'))
  }

  async verifyKeys(options?: { readonly signal?: AbortSignal }): Promise<KeysReport> {
    const { signal, ...unknown } = optionsOf(options, 'verifyKeys')
    checkKnown(unknown, 'verifyKeys')
    return verifyKeys(this.#scope, signal)
  }

  async rebuild(options?: RebuildOptions): Promise<RebuildReport> {
    checkOpen(this.#scope.engine)
    return rebuild(this.#scope, optionsOf(options, 'rebuild'))
  }

  async tenants(options?: TenantsOptions): Promise<readonly TenantId[]> {
    checkOpen(this.#scope.engine)
    this.#beyondWall('tenants()')
    return listTenants(this.#scope.engine.backend.journal, options)
  }

  async tenantState(id: string): Promise<TenantState> {
    checkOpen(this.#scope.engine)
    this.#beyondWall('tenantState()')
    return (await this.#scope.engine.backend.journal.head(telling(this.#scope, () => tenantId(id)))).state
  }

  async setTenantState(id: string, state: TenantState, options: { readonly reason: string }): Promise<void> {
    checkOpen(this.#scope.engine)
    this.#beyondWall('setTenantState()')
    const tenant = telling(this.#scope, () => tenantId(id))
    const { reason, ...unknown } = optionsOf(options, 'setTenantState')
    checkKnown(unknown, 'setTenantState')
    await setTenantState({ ...this.#scope, tenant }, state, reason)
  }

  async types(): Promise<readonly TypeUsage[]> {
    checkOpen(this.#scope.engine)
    return this.#scope.engine.backend.queries.usageByType(this.#scope.tenant)
  }

  async measure(): Promise<Measure> {
    checkOpen(this.#scope.engine)
    this.#beyondWall('measure()')
    return this.#scope.engine.backend.upkeep.measure()
  }

  async check(options?: { readonly signal?: AbortSignal }): Promise<readonly string[]> {
    checkOpen(this.#scope.engine)
    this.#beyondWall('check()')
    const { signal, ...unknown } = optionsOf(options, 'check')
    checkKnown(unknown, 'check')
    const { backend, features } = this.#scope.engine
    const damage = await whileWanted(this.#scope, signal, () => backend.upkeep.check())
    const references = await whileWanted(this.#scope, signal, () => checkReferences(this.#scope, damage, signal))
    return [...damage, ...references, ...(await whileWanted(this.#scope, signal, () => features.doctor(this.#scope)))]
  }

  async ahead(): Promise<AheadReport> {
    return ahead(this.#scope)
  }

  async maintain(options?: { readonly signal?: AbortSignal }): Promise<MaintenanceReport> {
    checkOpen(this.#scope.engine)
    this.#beyondWall('maintain()')
    const { signal, ...unknown } = optionsOf(options, 'maintain')
    checkKnown(unknown, 'maintain')
    return maintain(this.#scope, signal)
  }

  stats(): Stats {
    return { backend: this.name, ...this.#scope.engine.lane.stats() }
  }

  async health(): Promise<Health> {
    return health(this.#scope)
  }

  /** A view of one tenant must not see events, rows, number or names of other tenants. */
  #beyondWall(call: string): void {
    if (this.#walled) throw deny(this.#scope, 'TENANT_WALL', { tenant: this.#scope.tenant, call })
  }

  /** Views of other tenants and actors share one store; only the view that was opened closes it. */
  async close(): Promise<void> {
    if (this.#root) await this.#life.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
