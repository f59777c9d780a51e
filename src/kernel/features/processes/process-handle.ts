// The handle on a process: the row as it was last read, and the calls that change it.

import { refuse } from '../../../model/errors.ts'
import type { TenantId } from '../../../model/ids.ts'
import { checkKnown, optionsOf } from '../../../model/options.ts'
import type { Evidence, ProcessId, ProcessRequest, ProcessRow, ProcessState, Recovery, Reference, Started } from '../../../model/process.ts'
import { CORE_TYPES } from '../../../model/process.ts'
import { load } from '../../content/json-or-blob.ts'
import { takeName } from '../../naming/names.ts'
import { checkReason } from '../../proof/erase.ts'
import type { Page } from '../../reading/list-rows.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import type { OwnLease } from '../leases/keeper.ts'
import { keeperOf } from '../leases/keeper.ts'
import type { LeaseHolder } from '../leases/lease-holder.ts'
import { localNodesOf } from '../work/local-nodes.ts'
import type { AgentProcess, LeasedProcess } from './agent-process.ts'
import { type Changed, change, type Deed } from './change.ts'
import { takeSmall, takeText } from './definition.ts'
import {
  asAbandoned,
  asCancelled,
  asCompleted,
  asFailed,
  type CompleteOptions,
  type Ended,
  type EndOptions,
  endProcess,
  type ProcessResult,
  resultOf,
} from './ending.ts'
import {
  countEvents,
  type EventOptions,
  listEvents,
  nextEvent,
  type ProcessEvent,
  type ProcessEventQuery,
  sayEvent,
  shown,
  type ToldEvent,
} from './events.ts'
import { readProcess } from './ids.ts'
import { going, sameWait } from './process-decider.ts'
import { holdProcess, type ProcessLeaseOptions, processHolder, releaseHold } from './process-lease.ts'
import { abandonPart } from './register.ts'
import { anybody, holding, type WriteAs } from './write-as.ts'

export class ProcessHandle implements AgentProcess {
  // Private, so that a logged handle does not show the options of the store.
  readonly #scope: Scope
  readonly #hand: WriteAs
  #row: ProcessRow

  constructor(scope: Scope, row: ProcessRow, hand: WriteAs = anybody) {
    this.#scope = scope
    this.#hand = hand
    this.#row = row
  }

  protected get scope(): Scope {
    return this.#scope
  }
  get id(): ProcessId {
    return this.#row.id
  }
  get tenant(): TenantId {
    return this.scope.tenant
  }
  get name(): string {
    return this.#row.name
  }
  get kind(): string {
    return this.#row.kind
  }
  get recovery(): Recovery {
    return this.#row.recovery
  }
  get state(): ProcessState {
    return this.#row.state
  }

  async look(): Promise<ProcessRow> {
    checkOpen(this.scope.engine)
    const row = await readProcess(this.scope, this.id)
    if (!row) throw refuse('PROCESS_UNKNOWN', { process: this.id, tenant: this.scope.tenant })
    this.#row = row
    return row
  }

  async input<T>(): Promise<T> {
    return (await load(this.scope, this.#row.input)) as T
  }

  async start(options?: { readonly owner?: string }): Promise<Started & { readonly repeated: boolean }> {
    const { owner, ...unknown } = optionsOf(options, 'start')
    checkKnown(unknown, 'a start')
    const by = owner === undefined ? this.startedBy() : { owner: takeText(this.scope, 'owner', owner) }
    const { row, repeated } = await this.#change((found) => (found.started ? undefined : { command: { verb: 'start', id: this.id, by } }))
    return { ...(row.started as Started), repeated }
  }

  async event<T>(type: string, data?: T, options?: EventOptions): Promise<ToldEvent<T>> {
    return (await this.#told(await sayEvent(this.scope, this.id, this.#hand, type, data, options))) as ToldEvent<T>
  }

  events(query?: ProcessEventQuery): Promise<Page<ProcessEvent>> {
    return listEvents(this.scope, this.id, query)
  }

  count(query?: { readonly type?: string; readonly after?: number; readonly through?: number }): Promise<number> {
    return countEvents(this.scope, this.id, query)
  }

  nextEvent(query?: Pick<ProcessEventQuery, 'after' | 'type'> & { readonly signal?: AbortSignal }): Promise<ProcessEvent | undefined> {
    return nextEvent(this.scope, this.id, query)
  }

  async wait(kind: string, on?: unknown): Promise<void> {
    const word = takeName(this.scope, kind, 'a wait of a process')
    const taken = takeSmall(this.scope, 'on', on)
    const said = { kind: word, ...(taken !== undefined && { on: taken }) }
    const saying = { type: CORE_TYPES.waiting, payload: said, data: { value: said } }
    await this.#change((row) => {
      const { wait } = going(row, this.id)
      return wait && sameWait(wait, said) ? undefined : { command: { verb: 'wait', id: this.id, ...said }, saying }
    })
  }

  async resume(): Promise<void> {
    const saying = { type: CORE_TYPES.resumed, payload: undefined, data: {} }
    await this.#change((row) => (going(row, this.id).wait ? { command: { verb: 'resume', id: this.id }, saying } : undefined))
  }

  cancel(reason: string): Promise<ProcessRequest & { readonly repeated: boolean }> {
    return this.#request('cancel', CORE_TYPES.cancelRequested, reason)
  }

  abandon(reason: string): Promise<ProcessRequest & { readonly repeated: boolean }> {
    return this.#request('abandon', CORE_TYPES.abandonRequested, reason)
  }

  async complete(value?: unknown, options?: CompleteOptions): Promise<ToldEvent> {
    const { control, ...rest } = optionsOf(options, 'complete')
    return this.#end(await asCompleted(this.scope, value, control), rest)
  }

  async fail(error: unknown, options?: EndOptions): Promise<ToldEvent> {
    return this.#end(asFailed(this.scope, error), options)
  }

  async cancelled(reason?: string, options?: EndOptions): Promise<ToldEvent> {
    const why = reason ?? (await this.look()).cancel?.reason ?? ''
    return this.#end(asCancelled(this.scope, why), options)
  }

  async abandoned(evidence: Evidence, options?: EndOptions): Promise<ToldEvent> {
    return this.#end(asAbandoned(this.scope, evidence), options)
  }

  async refer(reference: Reference): Promise<void> {
    const { backend, id, metadata, ...unknown } = optionsOf(reference, 'reference')
    checkKnown(unknown, 'a reference')
    const taken = takeSmall(this.scope, 'metadata', metadata)
    const named = {
      backend: takeName(this.scope, backend, 'a backend'),
      id: takeText(this.scope, 'id', id),
      ...(taken !== undefined && { metadata: taken }),
    }
    await this.#change(() => ({ command: { verb: 'refer', id: this.id, reference: named } }))
  }

  async claim(options?: ProcessLeaseOptions): Promise<LeasedProcess> {
    const { hold, row } = await holdProcess(this.scope, this.id, options)
    return new LeasedProcessHandle(this.scope, row, hold)
  }

  holder(): Promise<LeaseHolder | undefined> {
    return processHolder(this.scope, this.id)
  }

  result<T>(options?: { readonly signal?: AbortSignal }): Promise<ProcessResult<T>> {
    return resultOf<T>(this.scope, this.id, options)
  }

  toJSON(): ProcessRow {
    return this.#row
  }

  /** This program as the owner of a start, with the mark by which others see whether it still runs. */
  protected startedBy(): Omit<Started, 'at'> {
    return keeperOf(this.scope.engine).holder
  }

  async #request(what: 'cancel' | 'abandon', type: string, reason: string): Promise<ProcessRequest & { readonly repeated: boolean }> {
    const { scope, id } = this
    const said = { reason: takeText(scope, 'reason', checkReason(reason)) }
    const { row, repeated } = await this.#change(async (found) => {
      if (going(found, id)[what]) return undefined
      const saying = { type, payload: said, data: { value: said } }
      const parts = what === 'abandon' ? [await abandonPart(scope, id)] : []
      return { command: { verb: 'request', id, what, ...said }, saying, parts }
    })
    localNodesOf(scope.engine).wake()
    return { ...(row[what] as ProcessRequest), repeated }
  }

  async #end(ended: Ended, options: EndOptions | undefined): Promise<ToldEvent> {
    return this.#told(await endProcess(this.scope, this.id, this.#hand, ended, options))
  }

  async #change(decide: (row: ProcessRow) => Deed | undefined | Promise<Deed | undefined>): Promise<Changed> {
    checkOpen(this.scope.engine)
    const changed = await change(this.scope, this.id, this.#hand, undefined, decide)
    this.#row = changed.row
    return changed
  }

  async #told({ row, event, repeated }: Changed): Promise<ToldEvent> {
    this.#row = row
    return { ...(await shown(this.scope, event as NonNullable<Changed['event']>)), repeated }
  }
}

export class LeasedProcessHandle extends ProcessHandle implements LeasedProcess {
  readonly #hold: OwnLease
  #released = false

  constructor(scope: Scope, row: ProcessRow, hold: OwnLease, hand = holding(hold)) {
    super(scope, row, hand)
    this.#hold = hold
  }

  get fence(): number {
    return this.#hold.fence
  }
  get signal(): AbortSignal {
    return this.#hold.signal
  }

  async release(): Promise<void> {
    if (this.#released) return
    this.#released = true
    await releaseHold(this.scope, this.#hold)
  }

  close(): Promise<void> {
    return this.release()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release()
  }

  protected override startedBy(): Omit<Started, 'at'> {
    return { ...super.startedBy(), fence: this.fence }
  }
}
