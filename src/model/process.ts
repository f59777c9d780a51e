// An agent process is a long-lived child of an agent: a tool at work, a crawl, somebody else's job. It is registered under a name, says what
// happens to it, and ends once. However long that takes: time alone never ends it.

import type { Json } from './data.ts'
import type { EventId, Id, RunId, SessionId } from './ids.ts'
import type { InboxDelivery } from './inbox.ts'
import type { LeaseRow } from './lease.ts'
import type { ErrorData, Stored } from './run.ts'
import type { Selector } from './selector.ts'

export type ProcessId = Id<'process'>

export type ProcessState = 'pending' | 'running' | 'waiting' | Ending

/** How it may end. */
export type Ending = 'completed' | 'failed' | 'cancelled' | 'abandoned'

export const ENDINGS: readonly Ending[] = ['completed', 'failed', 'cancelled', 'abandoned']
export const LIVE_STATES: readonly ProcessState[] = ['pending', 'running', 'waiting']
export const PROCESS_STATES: readonly ProcessState[] = [...LIVE_STATES, ...ENDINGS]
export const hasEnded = (state: ProcessState): state is Ending => ENDINGS.includes(state as Ending)

/**
 * What becomes of it when whoever runs it dies. `rerunnable`: somebody else runs it again. `ownerBound`: anybody may start it, and nobody runs
 * it a second time. `external`: it is run elsewhere, and never here.
 */
export type Recovery = 'rerunnable' | 'ownerBound' | 'external'
export const RECOVERIES: readonly Recovery[] = ['rerunnable', 'ownerBound', 'external']

/** Where it comes from. */
export interface Provenance {
  readonly session?: SessionId
  readonly run?: RunId
  readonly cause?: EventId
  /** Who asked for it: an opaque id. */
  readonly by?: string
}

/** Whether, and with what, an event wakes the session. */
export interface WakeSpec {
  /** A JSON pointer: it wakes where this is there and neither null, false nor empty. */
  readonly when?: string
  /** What the session is told; by default the data of the event. */
  readonly input?: Selector
  /** Of those with the same text only the first wakes; by default each event is its own. */
  readonly dedupe?: Selector
  /** At the next safe place, also within a turn, which is the default; or only between turns. */
  readonly delivery?: InboxDelivery
}

/** An event of this type ends the process. */
export interface TerminalSpec {
  readonly state: Exclude<Ending, 'abandoned'>
  /** Its value, its error, or why it was cancelled. */
  readonly output?: Selector
}

/** What was declared of a type of events. */
export interface EventTypeSpec {
  /** `false`: also where such events wake by themselves, as ends do. */
  readonly wake?: WakeSpec | false
  readonly terminal?: TerminalSpec
  /** JSON pointers that lead to something in the data of each. */
  readonly needs?: readonly string[]
}

/** Who started it first. Never changes. */
export interface Started {
  readonly owner: string
  readonly at: number
  readonly fence?: number | undefined
  readonly incarnation?: string | undefined
  /** Where the process of the owner can be looked for. */
  readonly mark?: LeaseRow['mark']
}

/** Asked of it from outside, once. Whoever runs it decides when to follow. */
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

/** Its name in the system that runs it. */
export interface Reference {
  readonly backend: string
  readonly id: string
  readonly metadata?: Json | undefined
}

/** Who found that nobody will end it: its owner on leaving, somebody who saw that its owner is gone, or on request when nobody held it. */
export interface Evidence {
  readonly writer: 'ownerDrain' | 'sweep' | 'reconciled'
  readonly owner?: string
  readonly fence?: number
}
export const WRITERS: readonly Evidence['writer'][] = ['ownerDrain', 'sweep', 'reconciled']

/** What was said when it was registered. */
export interface Definition {
  readonly kind: string
  readonly recovery: Recovery
  readonly provenance?: Provenance | undefined
  readonly label?: string | undefined
  readonly definition?: Json | undefined
  readonly input?: Stored | undefined
  /** By type; absent where every type may be said. */
  readonly events?: Readonly<Record<string, EventTypeSpec>> | undefined
  /** The session that is woken. */
  readonly wake?: SessionId | undefined
  /** How often it is run until it has failed for good. */
  readonly attempts?: number | undefined
}

export interface ProcessRow extends Definition {
  readonly id: ProcessId
  /** The name it was registered under; '' once that was erased. */
  readonly name: string
  readonly state: ProcessState
  /** The session that was to be woken, and is gone. */
  readonly wakeWas?: SessionId | undefined
  readonly started?: Started | undefined
  readonly wait?: ProcessWait | undefined
  readonly cancel?: ProcessRequest | undefined
  readonly abandon?: ProcessRequest | undefined
  readonly reference?: Reference | undefined
  readonly value?: Stored | undefined
  /** What the one who completed it says to whoever goes on. */
  readonly control?: Json | undefined
  readonly error?: ErrorData | undefined
  /** Why it was cancelled. */
  readonly reason?: string | undefined
  readonly evidence?: Evidence | undefined
  readonly registeredAt: number
  readonly changedAt: number
  readonly endedAt?: number | undefined
}

/** What an event did about the session: a wake-up lies in its inbox, or there is none, and why. */
export interface WakeNote {
  readonly offered: boolean
  readonly session?: SessionId | undefined
  /** The same for all wake-ups that count as one. */
  readonly id?: string | undefined
  /** `nobody`: there is nobody to wake. `repeated`: this one was delivered before. Otherwise what became of the session. */
  readonly why?: 'nobody' | 'repeated' | 'unknown' | 'archived' | 'deleted' | undefined
}

/** Once erased, nothing is left of it but that its number is taken. */
export interface ProcessEventRow {
  readonly process?: ProcessId | undefined
  /** From 1 in each process. */
  readonly number?: number | undefined
  readonly type?: string | undefined
  readonly data?: Stored | undefined
  readonly key?: string | undefined
  readonly wake?: WakeNote | undefined
  /** Such wake-ups are delivered once for each text. */
  readonly dedupe?: string | undefined
  readonly at: number
}

/** A session has a handle on a process. */
export interface GrantRow {
  readonly session: SessionId
  readonly process: ProcessId
  readonly label?: string | undefined
  readonly grantedAt: number
}

/** Of every process, declared or not. Written when it happens, never by hand. */
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

/** The queue of processes of this kind that somebody is to run. No kind is empty: that queue is for requests to abandon one, of whatever kind. */
export const processQueue = (kind: string): string => `processes/${kind}`
