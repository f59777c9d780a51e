// A work item is a task for a worker: due at a time, claimed under a fence, completed once.

import type { RunId } from './ids.ts'
import type { LeaseRow } from './lease.ts'
import type { ErrorData, Stored } from './run.ts'

export type WorkState = 'ready' | 'claimed' | 'asleep' | 'dead'
export const WORK_STATES: readonly WorkState[] = ['ready', 'claimed', 'asleep', 'dead']

/** Delays between retries: `firstMs`, then `factor` times longer with each attempt, up to `mostMs`. */
export interface Backoff {
  readonly firstMs: number
  readonly factor: number
  readonly mostMs: number
}

/** The row that an item came from. Changes of the item are written there too, in the same commit. */
export interface Origin {
  readonly kind: 'occurrence' | 'delivery' | 'process' | 'clock'
  readonly id: string
  /** The owner of that row: the job of an occurrence. */
  readonly of?: string
  /** The scheduled time. */
  readonly at?: number
}

export interface WorkRow {
  /** The run that the item stands for. */
  readonly run?: RunId | undefined
  readonly queue: string
  readonly state: WorkState
  /** When a worker must look at it again: when it is due, or when its claim expires. Absent if only another write can change it. */
  readonly at?: number | undefined
  readonly attempt: number
  /** Claims in a row that ended because the worker died. */
  readonly strikes: number
  readonly owner?: string | undefined
  /** Identifies the operating-system process that claimed it. */
  readonly mark?: LeaseRow['mark']

  // The members below are for items of queues that callers name.

  /** Higher comes first. */
  readonly priority?: number | undefined
  readonly group?: string | undefined
  /** The group within its queue. Its items are processed one after another, in the order offered. */
  readonly series?: string | undefined
  readonly key?: string | undefined
  readonly payload?: Stored | undefined
  /** Maximum number of claims. */
  readonly attempts?: number | undefined
  readonly backoff?: Backoff | undefined
  readonly origin?: Origin | undefined
  readonly offeredAt?: number | undefined
  /** The last error, or why it is dead. */
  readonly error?: ErrorData | undefined
  readonly diedAt?: number | undefined
}

/** The queue of runs that wait for a handler of this name. */
export const runQueue = (name: string): string => `runs/${name}`

/** Prefixes of queues that the store keeps for itself. */
export const RESERVED_QUEUES: readonly string[] = ['runs/', 'clock/', 'processes/']

// Names hold no control characters, so queue and group cannot be shifted into each other.
export const seriesOf = (queue: string, group: string): string => `${queue}\n${group}`

/** The delay after a failed attempt. After many attempts the power is Infinity, and zero times Infinity would be NaN. */
export const restMs = ({ firstMs, factor, mostMs }: Backoff, attempt: number): number =>
  firstMs === 0 ? 0 : Math.round(Math.min(mostMs, firstMs * factor ** (attempt - 1)))
