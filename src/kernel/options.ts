// The options of a store that concern every backend, with those of the features.

import type { Duration } from '../model/time.ts'
import type { Embedder } from '../ports/embedder.ts'
import type { RedactOptions } from '../redact/redactor.ts'
import type { CollectAfter } from './content/writes-since-collection.ts'
import type { CanvasOptions } from './features/canvas/options.ts'
import type { LeaseOptions } from './features/leases/keeper.ts'
import type { MemoryOptions } from './features/memory/options.ts'
import type { LaneOptions } from './writing/lane.ts'

export interface KernelOptions {
  /** Masks secrets before anything is hashed, indexed or logged; `false` stores everything unmasked. */
  readonly redact?: RedactOptions | false
  /** The largest payload of one event, in bytes. */
  readonly payloadBytes?: number
  /** Bounds of the lane. */
  readonly lane?: Pick<LaneOptions, 'commits' | 'bytes' | 'timeoutMs'>
  /** The longest time a write should take, from the call to the receipt; 25 ms by default. A longer one counts as a breach in `stats()`. */
  readonly writeBudget?: Duration
  /** Duration and owner of leases. */
  readonly lease?: LeaseOptions
  /** Limits of canvases. */
  readonly canvas?: CanvasOptions
  /** Ranking and upkeep of memory. */
  readonly memory?: MemoryOptions
  /** Opens for inspection: damage is reported by the read that meets it, not by opening. */
  readonly readOnly?: boolean
  /** Whether this node runs the scheduler for jobs and expiring approvals; true by default. */
  readonly schedule?: boolean
  /** Turns texts into vectors. */
  readonly embedder?: Embedder
  /** Bytes of memory for collections of vectors; 512 MiB by default. Larger collections are read from the store for every search. */
  readonly vectorMemory?: number
  /**
   * Lets `maintain` collect garbage in a tenant once this process has written so many commits, or bytes of values and blobs, there. Off by
   * default.
   */
  readonly collectAfter?: CollectAfter
  /** Keys the tags in masked text; by default generated once and kept in the store. */
  readonly redactKey?: Uint8Array
}
