// A trigger says what is to be done when something fires: a subscription to a source. A firing is one thing that happened there, a delivery
// is one trigger being told of one firing.

import type { Json } from './data.ts'
import type { Id } from './ids.ts'
import type { ErrorData, Stored } from './run.ts'
import type { WorkRow } from './work.ts'

export type TriggerId = Id<'trigger'>
export type FiringId = Id<'firing'>
export type TriggerDeliveryId = Id<'delivery'>

export type TriggerState = 'enabled' | 'disabled' | 'deleted'
export const TRIGGER_STATES: readonly TriggerState[] = ['enabled', 'disabled', 'deleted']

/** What somebody asked for, with what goes without saying. */
export interface TriggerDefinition {
  readonly name: string
  readonly source: string
  readonly queue: string
  /** Which payloads it is for; absent, for all of them. */
  readonly match?: Json | undefined
  /** Handed along to every item as it is. */
  readonly with?: Json | undefined
  /** How its items are offered. */
  readonly offer: Pick<WorkRow, 'priority' | 'group' | 'series' | 'attempts' | 'backoff'> & { readonly delayMs: number }
}

export interface TriggerRow extends TriggerDefinition {
  readonly id: TriggerId
  /** A deleted one is kept: registered again, it goes on counting. */
  readonly state: TriggerState
  /** Counts its changes from 1: every definition, and every time it was disabled, enabled or deleted. */
  readonly revision: number
  readonly setAt: number
  readonly changedAt: number
}

/** What all triggers of a source share. Each change of one of them moves this row. */
export interface SourceRow {
  readonly source?: string | undefined
  /** Triggers that are not deleted. */
  readonly count: number
}

export interface FiringRow {
  readonly id: FiringId
  readonly source?: string | undefined
  readonly key?: string | undefined
  readonly payload?: Stored | undefined
  /** Of the canonical payload: what must be the same when the key comes again. */
  readonly digest?: string | undefined
  readonly firedAt: number
  /** Somebody erased what it said. That it happened is still known, and its key stays taken. */
  readonly erased?: true | undefined
}

export type TriggerDeliveryState = 'reserved' | 'delivering' | 'delivered' | 'dead' | 'cancelled'

export interface DeliveryRow {
  readonly id: TriggerDeliveryId
  readonly firing: FiringId
  readonly trigger_id: TriggerId
  /** The name of the trigger; absent once it was erased. */
  readonly trigger?: string | undefined
  /** The revision of the trigger that was told. */
  readonly revision: number
  /** Absent once it was erased. */
  readonly queue?: string | undefined
  readonly item: Id<'work'>
  readonly state: TriggerDeliveryState
  /** How often somebody took it up. */
  readonly attempt: number
  readonly reservedAt: number
  readonly changedAt: number
  /** Why it failed last, or why it is dead. */
  readonly error?: ErrorData | undefined
  /** The names of its trigger and queue were erased. Its item is still worked on. */
  readonly erased?: true | undefined
}
