// Usage of models, kept per session, source, model and UTC hour.

import type { Feature } from '../../feature.ts'
import { sumUsage, type UsageQuery, type UsageSum } from './report.ts'
import { usage as decider } from './usage-decider.ts'

export interface UsageStore {
  /** Sums the usage of this tenant over whole UTC hours, by source and model unless asked otherwise. */
  usage(query?: UsageQuery): Promise<readonly UsageSum[]>
}

export const usage: Feature<UsageStore> = {
  name: 'usage',
  deciders: [decider],
  refs: 'a row holds numbers',
  onForked: 'tokens are paid for once, so they count in the source',
  keptWithoutSession: { usage: 'costs of a tenant must not shrink when a session is deleted; the rows hold counts, source and model' },
  store: (scope) => ({ usage: (query) => sumUsage(scope, query) }),
}
