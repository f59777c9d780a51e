// Cron: jobs that offer a work item at every time of their schedule, at most once.

import type { Feature } from '../../feature.ts'
import { fireJob } from './fire.ts'
import { followOccurrence } from './follow-occurrence.ts'
import { CRON_CLOCK } from './ids.ts'
import { job } from './job-decider.ts'
import { type Cron, cronOf } from './jobs.ts'
import { occurrence } from './occurrence-decider.ts'

export interface CronStore {
  /** Jobs that run by the clock. */
  readonly cron: Cron
}

export const cron: Feature<CronStore> = {
  name: 'cron',
  deciders: [job, occurrence],
  refs: 'payloads are JSON or { digest, bytes }',
  onForked: 'jobs belong to the tenant',
  clocks: { [CRON_CLOCK]: fireJob },
  follows: { occurrence: followOccurrence },
  store: (scope, only) => ({ cron: cronOf(scope, only) }),
}
