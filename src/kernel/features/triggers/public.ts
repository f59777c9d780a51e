// The types of this feature that users see.

export type { FiringId, TriggerDeliveryId, TriggerDeliveryState, TriggerId, TriggerRow, TriggerState } from '../../../model/trigger.ts'
export type { Delivered, Fired, FireOptions, Reserved } from './fire.ts'
export type { Firing, HistoryOptions, TriggerDelivery } from './history.ts'
export type { PrunedFirings } from './prune.ts'
export type { ExpectOptions, TriggerOptions } from './set-trigger.ts'
export type { TriggerListOptions, Triggers } from './triggers.ts'
