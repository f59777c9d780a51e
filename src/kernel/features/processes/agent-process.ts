// The public interface of an agent process.

import type { TenantId } from '../../../model/ids.ts'
import type { Evidence, ProcessId, ProcessRequest, ProcessRow, ProcessState, Recovery, Reference, Started } from '../../../model/process.ts'
import type { Page } from '../../reading/list-rows.ts'
import type { LeaseHolder } from '../leases/lease-holder.ts'
import type { CompleteOptions, EndOptions, ProcessResult } from './ending.ts'
import type { EventOptions, ProcessEvent, ProcessEventQuery, ToldEvent } from './events.ts'
import type { ProcessLeaseOptions } from './process-lease.ts'

/** A handle on a process. Its members are those of the row when this program last read it. */
export interface AgentProcess {
  readonly id: ProcessId
  /** The tenant of the process. A node may work for all tenants. */
  readonly tenant: TenantId
  /** The name under which it was registered. */
  readonly name: string
  readonly kind: string
  readonly recovery: Recovery
  readonly state: ProcessState
  /** Reads the row again. */
  look(): Promise<ProcessRow>
  input<T = unknown>(): Promise<T>
  /** Records the start once. The first caller has started it, and every caller learns who that was. */
  start(options?: { readonly owner?: string }): Promise<Started & { readonly repeated: boolean }>
  event<T = unknown>(type: string, data?: T, options?: EventOptions): Promise<ToldEvent<T>>
  /** Reads events in order, those after a number. */
  events(query?: ProcessEventQuery): Promise<Page<ProcessEvent>>
  count(query?: { readonly type?: string; readonly after?: number; readonly through?: number }): Promise<number>
  /** Waits for the first event after a number. Returns undefined if the process has ended without one. */
  nextEvent(query?: Pick<ProcessEventQuery, 'after' | 'type'> & { readonly signal?: AbortSignal }): Promise<ProcessEvent | undefined>
  /** Records that the process waits: a word for what, and data that identifies it. */
  wait(kind: string, on?: unknown): Promise<void>
  resume(): Promise<void>
  /** Requests cancellation, recorded once. The handler is notified, and decides when to stop. */
  cancel(reason: string): Promise<ProcessRequest & { readonly repeated: boolean }>
  /** Requests abandonment, recorded once. The process is abandoned as soon as nobody holds it. */
  abandon(reason: string): Promise<ProcessRequest & { readonly repeated: boolean }>
  complete(value?: unknown, options?: CompleteOptions): Promise<ToldEvent>
  fail(error: unknown, options?: EndOptions): Promise<ToldEvent>
  /** Ends the process as cancelled. */
  cancelled(reason?: string, options?: EndOptions): Promise<ToldEvent>
  /** Ends the process as abandoned, with the evidence that nobody else will end it. */
  abandoned(evidence: Evidence, options?: EndOptions): Promise<ToldEvent>
  /** Records its name in the system that runs it. The first counts; the same again changes nothing, another is refused. */
  refer(reference: Reference): Promise<void>
  /** Takes the lease of the process. Throws PROCESS_HELD if another holder has it. */
  claim(options?: ProcessLeaseOptions): Promise<LeasedProcess>
  /** The holder of the lease. `lapsed` if its time is over. */
  holder(): Promise<LeaseHolder | undefined>
  /** Waits until the process has ended, and returns how. */
  result<T = unknown>(options?: { readonly signal?: AbortSignal }): Promise<ProcessResult<T>>
  toJSON(): ProcessRow
}

/** A process whose lease this program holds. Everything it writes is guarded by the fence of the lease. */
export interface LeasedProcess extends AgentProcess, AsyncDisposable {
  readonly fence: number
  /** Aborted when the lease is lost. */
  readonly signal: AbortSignal
  /** Releases the lease. Leaving the `await using` scope does the same. */
  release(): Promise<void>
  /** The same as `release`. */
  close(): Promise<void>
}
