// A run as its program sees it: the calls of a branch, checkpoints, and the calls that end the run.

import type { TurnState } from '../../../../model/checkpoint.ts'
import type { Event } from '../../../../model/event.ts'
import type { RunId, SessionId, TenantId } from '../../../../model/ids.ts'
import type { ErrorData, RunRow, RunState } from '../../../../model/run.ts'
import type { Usage } from '../../../../model/usage.ts'
import type { Components } from '../../checkpoints/components.ts'
import type { ForkOptions } from '../fork.ts'
import type { Branch } from './branch-calls.ts'
import type { Saved } from './checkpoint.ts'

export interface Run<Input = unknown, Result = unknown> extends Branch, AsyncDisposable {
  readonly id: RunId
  /** The tenant of the run: a node executes runs of all tenants. */
  readonly tenant: TenantId
  readonly session: SessionId
  readonly name: string
  readonly key: string | undefined
  readonly state: RunState
  /** Number of times that the run was taken up. */
  readonly attempt: number
  /** The seq of the event that granted its lease; 0 for a run that has ended. */
  readonly fence: number
  readonly input: Input
  /** Undefined until the run is done. */
  readonly result: Result | undefined
  readonly error: ErrorData | undefined
  readonly ledger: readonly Usage[]
  /** Aborted when the lease is lost, the run is cancelled, or the handle is closed. */
  readonly aborted: AbortSignal
  /**
   * Stores named components, JSON or bytes, and begins a new epoch. Components that have not changed cost one reference. Refused while a branch,
   * an effect or the result of a child is not awaited.
   */
  checkpoint(components: Components, turn?: TurnState): Promise<Saved>
  /** Must be the first call of a program. Returns the components of the newest checkpoint, and replay starts after it. */
  restore<T extends object = Record<string, unknown>>(): Promise<T | undefined>
  /** The turn state that was stored with the restored checkpoint. */
  readonly turnState: TurnState | undefined
  finish(result?: Result): Promise<void>
  fail(error: unknown): Promise<void>
  cancel(reason: string): Promise<void>
  /** Reads its events, oldest first; of a fork, the shared events come first. */
  tape(options?: { readonly signal?: AbortSignal }): AsyncGenerator<Event, void, undefined>
  /** Creates another run that shares the tape up to this seq and executes the rest again. Nothing is copied. */
  fork(options: ForkOptions): Promise<Run>
  /** Releases the lease. The run keeps its state, and any node may take it up next. */
  close(): Promise<void>
  toJSON(): RunRow
}
