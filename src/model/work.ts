// A work item is something to be done by somebody: due at a time, claimed under a fence, done once.

import type { RunId } from './ids.ts'
import type { LeaseRow } from './lease.ts'
import type { ErrorData, Stored } from './run.ts'

export type WorkState = 'ready' | 'claimed' | 'asleep' | 'dead'
export const WORK_STATES: readonly WorkState[] = ['ready', 'claimed', 'asleep', 'dead']

/** How long a failed item rests: `firstMs`, then each time `factor` as long, and never longer than `mostMs`. */
export interface Backoff {
  readonly firstMs: number
  readonly factor: number
  readonly mostMs: number
}

/** What an item came from: whatever happens to the item is written there too, in the same commit. */
export interface Origin {
  readonly kind: 'occurrence' | 'delivery' | 'process' | 'clock'
  readonly id: string
  /** What that belongs to: the job of an occurrence. */
  readonly of?: string
  /** The time it was meant for. */
  readonly at?: number
}

export interface WorkRow {
  /** The run it stands for. */
  readonly run?: RunId | undefined
  readonly queue: string
  readonly state: WorkState
  /** When somebody has to look at it again: when it is due, or when its claim runs out. Absent when nothing will happen by itself. */
  readonly at?: number | undefined
  readonly attempt: number
  /** Claims in a row that ended without a word: whoever held it died. */
  readonly strikes: number
  readonly owner?: string | undefined
  /** Where the process that claimed it can be looked for. */
  readonly mark?: LeaseRow['mark']

  // What follows is there for items of queues that people name.

  /** Higher comes first. */
  readonly priority?: number | undefined
  readonly group?: string | undefined
  /** The group within its queue: its items come in the order they were offered, one at a time. */
  readonly series?: string | undefined
  readonly key?: string | undefined
  readonly payload?: Stored | undefined
  /** How often it may be claimed. */
  readonly attempts?: number | undefined
  readonly backoff?: Backoff | undefined
  readonly origin?: Origin | undefined
  readonly offeredAt?: number | undefined
  /** Why it failed last, or why it is dead. */
  readonly error?: ErrorData | undefined
  readonly diedAt?: number | undefined
}

/** The queue of runs that wait for a handler of this name. */
export const runQueue = (name: string): string => `runs/${name}`

/** Queues the store keeps for itself begin like this. */
export const RESERVED_QUEUES: readonly string[] = ['runs/', 'clock/', 'processes/']

// Names hold no control characters, so queue and group cannot be shifted into each other.
export const seriesOf = (queue: string, group: string): string => `${queue}\n${group}`

/** The delay after a failed attempt. After many attempts the power is Infinity, and zero times Infinity would be NaN. */
export const restMs = ({ firstMs, factor, mostMs }: Backoff, attempt: number): number =>
  firstMs === 0 ? 0 : Math.round(Math.min(mostMs, firstMs * factor ** (attempt - 1)))
