// An agent process is a long-lived child of an agent: a running tool, a crawl, a job on another system. It is registered under a name,
// reports events, and ends once. Time alone never ends it.

import type { Json } from './data.ts'
import type { EventId, Id, RunId, SessionId } from './ids.ts'
import type { InboxDelivery } from './inbox.ts'
import type { LeaseRow } from './lease.ts'
import type { ErrorData, Stored } from './run.ts'
import type { Selector } from './selector.ts'

export type ProcessId = Id<'process'>

export type ProcessState = 'pending' | 'running' | 'waiting' | Ending

/** The ways a process can end. */
export type Ending = 'completed' | 'failed' | 'cancelled' | 'abandoned'

export const ENDINGS: readonly Ending[] = ['completed', 'failed', 'cancelled', 'abandoned']
export const LIVE_STATES: readonly ProcessState[] = ['pending', 'running', 'waiting']
export const PROCESS_STATES: readonly ProcessState[] = [...LIVE_STATES, ...ENDINGS]
export const hasEnded = (state: ProcessState): state is Ending => ENDINGS.includes(state as Ending)

/**
 * Recovery after the death of the owner. `rerunnable`: another node runs the process again. `ownerBound`: any node may start it, and it
 * never runs twice. `external`: another system runs it, never a node of this store.
 */
export type Recovery = 'rerunnable' | 'ownerBound' | 'external'
export const RECOVERIES: readonly Recovery[] = ['rerunnable', 'ownerBound', 'external']

/** The origin of a process. */
export interface Provenance {
  readonly session?: SessionId
  readonly run?: RunId
  readonly cause?: EventId
  /** The actor who asked for it: an opaque id. */
  readonly by?: string
}

/** Whether an event wakes the session, and with what input. */
export interface WakeSpec {
  /** JSON pointer into the event's data: the event wakes only if its target exists and is not null, false or empty. */
  readonly when?: string
  /** The input that the session gets; by default the data of the event. */
  readonly input?: Selector
  /** Deduplication text: only the first event with the same text wakes. By default every event counts as new. */
  readonly dedupe?: Selector
  /** At the next safe place, even within a turn (the default), or only between turns. */
  readonly delivery?: InboxDelivery
}

/** An event of this type ends the process. */
export interface TerminalSpec {
  readonly state: Exclude<Ending, 'abandoned'>
  /** The result, the error, or the reason of the cancellation. */
  readonly output?: Selector
}

/** The declaration of one event type. */
export interface EventTypeSpec {
  /** `false` also silences events that wake by default, such as endings. */
  readonly wake?: WakeSpec | false
  readonly terminal?: TerminalSpec
  /** JSON pointers that must lead to something in the data of each event. */
  readonly needs?: readonly string[]
}

/** The first owner that started the process. It never changes. */
export interface Started {
  readonly owner: string
  readonly at: number
  readonly fence?: number | undefined
  readonly incarnation?: string | undefined
  /** Identifies the owner's operating-system process, to check whether it still exists. */
  readonly mark?: LeaseRow['mark']
}

/** A request from outside, made once. The owner of the process decides when to obey. */
export interface ProcessRequest {
  readonly reason: string
  readonly at: number
  /** The actor who asked. */
  readonly by?: string | undefined
}

export interface ProcessWait {
  readonly kind: string
  readonly on?: Json | undefined
  readonly since: number
}

/** Its id in the system that runs it. */
export interface Reference {
  readonly backend: string
  readonly id: string
  readonly metadata?: Json | undefined
}

/**
 * Evidence that no holder will end the process. `ownerDrain`: its owner gave it up on closing. `sweep`: its owner is provably gone.
 * `reconciled`: a caller asked to abandon it while it had no holder.
 */
export interface Evidence {
  readonly writer: 'ownerDrain' | 'sweep' | 'reconciled'
  readonly owner?: string
  readonly fence?: number
}
export const WRITERS: readonly Evidence['writer'][] = ['ownerDrain', 'sweep', 'reconciled']

/** The registration of a process. */
export interface Definition {
  readonly kind: string
  readonly recovery: Recovery
  readonly provenance?: Provenance | undefined
  readonly label?: string | undefined
  readonly definition?: Json | undefined
  readonly input?: Stored | undefined
  /** The name of the execution environment. */
  readonly env?: string | undefined
  /** Declarations by event type; absent, every type is allowed. */
  readonly events?: Readonly<Record<string, EventTypeSpec>> | undefined
  /** The session that its events wake. */
  readonly wake?: SessionId | undefined
  /** Number of attempts before it has failed for good. */
  readonly attempts?: number | undefined
}

export interface ProcessRow extends Definition {
  readonly id: ProcessId
  /** The name it was registered under; empty once erased. */
  readonly name: string
  readonly state: ProcessState
  /** The former `wake` session, which was deleted. */
  readonly wakeWas?: SessionId | undefined
  readonly started?: Started | undefined
  readonly wait?: ProcessWait | undefined
  readonly cancel?: ProcessRequest | undefined
  readonly abandon?: ProcessRequest | undefined
  readonly reference?: Reference | undefined
  readonly value?: Stored | undefined
  /** A message from the code that completed it to the code that continues after it. */
  readonly control?: Json | undefined
  readonly error?: ErrorData | undefined
  /** Reason of the cancellation. */
  readonly reason?: string | undefined
  readonly evidence?: Evidence | undefined
  readonly registeredAt: number
  readonly changedAt: number
  readonly endedAt?: number | undefined
}

/** Whether an event put a wake-up into the session's inbox, and if not, why. */
export interface WakeNote {
  readonly offered: boolean
  readonly session?: SessionId | undefined
  /** Wake-ups that are deduplicated have the same id. */
  readonly id?: string | undefined
  /** `nobody`: no session to wake. `repeated`: this wake-up was delivered before. Otherwise the state of the session. */
  readonly why?: 'nobody' | 'repeated' | 'unknown' | 'archived' | 'deleted' | undefined
}

/** An erased event keeps only its number. */
export interface ProcessEventRow {
  readonly process?: ProcessId | undefined
  /** Counted from 1 in each process. */
  readonly number?: number | undefined
  readonly type?: string | undefined
  readonly data?: Stored | undefined
  readonly key?: string | undefined
  readonly wake?: WakeNote | undefined
  /** Deduplication text: one wake-up is delivered per text. */
  readonly dedupe?: string | undefined
  readonly at: number
}

/** Gives a session access to a process. */
export interface GrantRow {
  readonly session: SessionId
  readonly process: ProcessId
  readonly kind?: string | undefined
  readonly label?: string | undefined
  readonly grantedAt: number
}

/** Event types of every process, declared or not. The store writes them; callers cannot. */
export const CORE_TYPES = {
  waiting: 'process.waiting',
  resumed: 'process.resumed',
  cancelRequested: 'process.cancel-requested',
  abandonRequested: 'process.abandon-requested',
  completed: 'process.completed',
  failed: 'process.failed',
  cancelled: 'process.cancelled',
  abandoned: 'process.abandoned',
} as const satisfies Readonly<Record<string, string>>

export const isCoreType = (type: string): boolean => (Object.values(CORE_TYPES) as readonly string[]).includes(type)

/**
 * The queue of processes of this kind that wait for a node. A kind is never empty: the queue of the empty kind holds requests to abandon
 * processes of any kind.
 */
export const processQueue = (kind: string): string => `processes/${kind}`
