// A trigger is a rule for a source: it offers a work item when the source fires. A firing is one event at the source. A delivery is one
// firing on its way to one trigger.

import type { Json } from './data.ts'
import type { Id } from './ids.ts'
import type { ErrorData, Stored } from './run.ts'
import type { WorkRow } from './work.ts'

export type TriggerId = Id<'trigger'>
export type FiringId = Id<'firing'>
export type TriggerDeliveryId = Id<'delivery'>

export type TriggerState = 'enabled' | 'disabled' | 'deleted'
export const TRIGGER_STATES: readonly TriggerState[] = ['enabled', 'disabled', 'deleted']

/** A trigger as registered, with defaults filled in. */
export interface TriggerDefinition {
  readonly name: string
  readonly source: string
  readonly queue: string
  /** The pattern that a payload must match; absent, every payload matches. */
  readonly match?: Json | undefined
  /** Passed to every item unchanged. */
  readonly with?: Json | undefined
  /** The name of the execution environment, passed to every item. */
  readonly env?: string | undefined
  /** Options with which its work items are offered. */
  readonly offer: Pick<WorkRow, 'priority' | 'group' | 'series' | 'attempts' | 'backoff'> & { readonly delayMs: number }
}

export interface TriggerRow extends TriggerDefinition {
  readonly id: TriggerId
  /** A deleted trigger is kept: registering it again continues its revisions. */
  readonly state: TriggerState
  /** Counts changes from 1: each new definition, and each time it was disabled, enabled or deleted. */
  readonly revision: number
  readonly setAt: number
  readonly changedAt: number
}

/** The row that all triggers of a source share. Each change of one of them changes it. */
export interface SourceRow {
  readonly source?: string | undefined
  /** Number of triggers that are not deleted. */
  readonly count: number
}

export interface FiringRow {
  readonly id: FiringId
  readonly source?: string | undefined
  readonly key?: string | undefined
  readonly payload?: Stored | undefined
  /** Digest of the canonical payload: the same key must come with the same payload. */
  readonly digest?: string | undefined
  readonly firedAt: number
  /** Its payload was erased. The firing still counts, and its key stays taken. */
  readonly erased?: true | undefined
}

export type TriggerDeliveryState = 'reserved' | 'delivering' | 'delivered' | 'dead' | 'cancelled'

export interface DeliveryRow {
  readonly id: TriggerDeliveryId
  readonly firing: FiringId
  readonly trigger_id: TriggerId
  /** The name of the trigger; absent once erased. */
  readonly trigger?: string | undefined
  /** The revision of the trigger that the firing matched. */
  readonly revision: number
  /** Absent once erased. */
  readonly queue?: string | undefined
  readonly item: Id<'work'>
  readonly state: TriggerDeliveryState
  /** Number of times a worker claimed it. */
  readonly attempt: number
  readonly reservedAt: number
  readonly changedAt: number
  /** The last error, or why it is dead. */
  readonly error?: ErrorData | undefined
  /** The names of its trigger and queue were erased. Its item is still processed. */
  readonly erased?: true | undefined
}
