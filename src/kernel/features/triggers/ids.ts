// Ids that follow from names and keys, so that all nodes reserve the same rows.

import type { Id } from '../../../model/ids.ts'
import type { FiringId, TriggerDeliveryId, TriggerId } from '../../../model/trigger.ts'
import { derivedId } from '../../naming/derived-id.ts'
import type { Scope } from '../../wiring/scope.ts'

// Names hold no line breaks, so two lists of names never make the same text.
const derived = <Name extends string>({ engine }: Scope, ...parts: readonly string[]): Id<Name> =>
  derivedId<Name>({ engine }, `trigger/${parts.join('\n')}`)

export const triggerId = (scope: Scope, name: string): TriggerId => derived(scope, 'name', name)

export const sourceId = (scope: Scope, source: string): Id<'source'> => derived(scope, 'source', source)

export const firingId = (scope: Scope, source: string, key: string): FiringId => derived(scope, 'firing', source, key)

export const deliveryId = (scope: Scope, firing: FiringId, trigger: TriggerId): TriggerDeliveryId =>
  derived(scope, 'delivery', firing, trigger)

/** The work item of a delivery. */
export const deliveryItem = (scope: Scope, delivery: TriggerDeliveryId): Id<'work'> => derived(scope, 'item', delivery)
