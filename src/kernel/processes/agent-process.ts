// A process as its users hold it: what can be said and asked of it.

import type { TenantId } from '../../model/ids.ts'
import type { Evidence, ProcessId, ProcessRequest, ProcessRow, ProcessState, Recovery, Reference, Started } from '../../model/process.ts'
import type { Page } from '../list.ts'
import type { RunHolder } from '../runs/holder.ts'
import type { CompleteOptions, EndOptions, ProcessResult } from './ending.ts'
import type { EventOptions, ProcessEvent, ProcessEventQuery, ToldEvent } from './events.ts'
import type { HoldOptions } from './process-lease.ts'

/** A process in hand. What it says of itself is what it was when last seen from here. */
export interface AgentProcess {
  readonly id: ProcessId
  /** Whose it is: a node may work for all. */
  readonly tenant: TenantId
  /** The name it was registered under. */
  readonly name: string
  readonly kind: string
  readonly recovery: Recovery
  readonly state: ProcessState
  /** As it is now. */
  look(): Promise<ProcessRow>
  input<T = unknown>(): Promise<T>
  /** Recorded once: whoever is first has started it, and everybody is told who that was. */
  start(options?: { readonly owner?: string }): Promise<Started & { readonly repeated: boolean }>
  event<T = unknown>(type: string, data?: T, options?: EventOptions): Promise<ToldEvent<T>>
  /** In order, those beyond a number. */
  events(query?: ProcessEventQuery): Promise<Page<ProcessEvent>>
  count(query?: { readonly type?: string; readonly after?: number; readonly through?: number }): Promise<number>
  /** The first beyond a number, once it is there; undefined where it has ended without one. */
  nextEvent(query?: Pick<ProcessEventQuery, 'after' | 'type'> & { readonly signal?: AbortSignal }): Promise<ProcessEvent | undefined>
  /** It waits for something: a word for what, and whatever tells it apart. */
  wait(kind: string, on?: unknown): Promise<void>
  resume(): Promise<void>
  /** A request, recorded once: whoever runs it is told, and decides when to follow. */
  cancel(reason: string): Promise<ProcessRequest & { readonly repeated: boolean }>
  /** A request, recorded once: it is abandoned as soon as nobody holds it. */
  abandon(reason: string): Promise<ProcessRequest & { readonly repeated: boolean }>
  complete(value?: unknown, options?: CompleteOptions): Promise<ToldEvent>
  fail(error: unknown, options?: EndOptions): Promise<ToldEvent>
  /** It was cancelled: this ends it. */
  cancelled(reason?: string, options?: EndOptions): Promise<ToldEvent>
  /** Nobody will end it any more: this ends it, with what shows that. */
  abandoned(evidence: Evidence, options?: EndOptions): Promise<ToldEvent>
  /** Its name in the system that runs it. The first counts; the same again changes nothing, another is refused. */
  refer(reference: Reference): Promise<void>
  /** The right to write for it, for as long as this program has it. PROCESS_HELD where somebody else does. */
  claim(options?: HoldOptions): Promise<HeldProcess>
  /** Who holds it; lapsed where its time is over. */
  holder(): Promise<RunHolder | undefined>
  /** How it ended, once it has. */
  result<T = unknown>(options?: { readonly signal?: AbortSignal }): Promise<ProcessResult<T>>
  toJSON(): ProcessRow
}

/** Held: everything it writes is written under its fence, or not at all. */
export interface HeldProcess extends AgentProcess, AsyncDisposable {
  readonly fence: number
  /** Aborted when it is lost. */
  readonly signal: AbortSignal
  /** Gives it back. Leaving the scope does the same. */
  release(): Promise<void>
}
