// Triggers: work items offered to every queue that wants to hear of an event of a source.

import type { Feature } from '../../feature.ts'
import { delivery } from './delivery-decider.ts'
import { firing } from './firing-decider.ts'
import { followDelivery } from './follow-delivery.ts'
import { source } from './source-decider.ts'
import { trigger } from './trigger-decider.ts'
import { type Triggers, triggersOf } from './triggers.ts'

export interface TriggerStore {
  /** Triggers: which queues hear of which source. */
  readonly triggers: Triggers
}

export const triggers: Feature<TriggerStore> = {
  name: 'triggers',
  deciders: [trigger, source, firing, delivery],
  refs: 'payloads are JSON or { digest, bytes }',
  onForked: 'triggers belong to the tenant',
  follows: { delivery: followDelivery },
  store: (scope) => ({ triggers: triggersOf(scope) }),
}
