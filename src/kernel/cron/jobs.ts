// Jobs as people hold them: set by name, paused, resumed, run by hand, backfilled, and looked at.

import { refuse } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import type { JobRow, JobState, OccurrenceRow, OccurrenceState } from '../../model/job.ts'
import { limits } from '../../model/limits.ts'
import { checkKnown, expected, invalidOption, optionsOf } from '../../model/options.ts'
import { checkState, listRows, type Page, type PageOptions } from '../list.ts'
import { takeName } from '../names.ts'
import { type PruneBefore, takeBefore } from '../prune-options.ts'
import { checkOpen, type Scope } from '../scope.ts'
import { storeNow } from '../store-time.ts'
import type { Ticked } from '../work/scheduler.ts'
import { backfill, runNow } from './admin.ts'
import { findJob, theJob } from './find-job.ts'
import { CRON_CLOCK, jobId } from './ids.ts'
import { pruneOccurrences } from './prune.ts'
import { timesBetween } from './schedule.ts'
import { type JobOptions, setJob } from './set-job.ts'
import { deleteJob, pauseJob, resumeJob } from './stop-job.ts'

export interface JobListOptions extends PageOptions {
  readonly state?: JobState
}

export interface OccurrenceListOptions extends PageOptions {
  readonly state?: OccurrenceState
}

export interface Cron {
  /** Makes a job, or changes it: times of another schedule are counted from now, and those of the same go on. The same again changes nothing. */
  set(name: string, options: JobOptions): Promise<JobRow>
  get(name: string): Promise<JobRow | undefined>
  list(options?: JobListOptions): Promise<Page<JobRow>>
  /** Its times from now on, as they would come. */
  preview(name: string, count?: number): Promise<readonly number[]>
  pause(name: string, options?: { readonly reason?: string }): Promise<JobRow>
  /** Goes on with the next time from now; what it would have done meanwhile is not made up for. */
  resume(name: string): Promise<JobRow>
  /** What runs goes on, what waited for its end is left out, and its history stays. */
  delete(name: string): Promise<void>
  /** One more, now, whatever runs. */
  run(name: string): Promise<OccurrenceRow>
  /** Every time of the period that has not come up before. */
  backfill(
    name: string,
    period: { readonly from: Date | number | string; readonly to: Date | number | string },
  ): Promise<{ readonly offered: number; readonly known: number }>
  /** What came of its times, the latest first. */
  occurrences(name: string, options?: OccurrenceListOptions): Promise<Page<OccurrenceRow>>
  /**
   * Does what is due now, and has done it when it returns: for a node that was opened with `schedule: false`, or where something else
   * keeps the time. Any number of nodes may do so at once, also while others run by themselves.
   */
  tick(options?: TickOptions): Promise<Ticked>
  /** Forgets what ended before then, of all jobs. The journal keeps it. */
  prune(options: PruneBefore): Promise<{ readonly forgotten: number }>
}

export interface TickOptions {
  /** Jobs of every tenant, where the store may see them all. The default is its own. */
  readonly tenants?: 'own' | 'all'
}

const JOB_STATES: readonly JobState[] = ['active', 'paused', 'over']
const OCCURRENCE_STATES: readonly OccurrenceState[] = ['waiting', 'running', 'done', 'failed', 'cancelled', 'skipped', 'missed']

/** `only`: the tenant whose wall this is behind. */
export function cronOf(scope: Scope, only: TenantId | undefined): Cron {
  const ready = () => {
    checkOpen(scope.engine)
    scope.engine.scheduler.start()
  }
  return {
    set: async (name, options) => {
      ready()
      return setJob(scope, name, options)
    },
    get: async (name) => (await findJob(scope, name))?.body,
    list: async (options) => {
      const { state, ...page } = optionsOf(options, 'list')
      checkState(state, JOB_STATES, 'job')
      return listRows(scope, 'jobs', state ? { index: 'byState', equals: [state] } : { index: 'byBorn', equals: [] }, page)
    },
    preview: async (name, count = 10) => {
      if (!Number.isInteger(count) || count < 1 || count > limits.listRows)
        throw refuse('RANGE_INVALID', { why: expected(`a count from 1 to ${limits.listRows}`, count) })
      const job = await theJob(scope, name)
      const after = Math.max(await storeNow(scope), job.through)
      return timesBetween(job.schedule, after, Number.MAX_SAFE_INTEGER, count)
    },
    pause: (name, options) => pauseJob(scope, name, options),
    resume: async (name) => {
      ready()
      return resumeJob(scope, name)
    },
    delete: (name) => deleteJob(scope, name),
    run: async (name) => {
      ready()
      return runNow(scope, name)
    },
    backfill: (name, period) => backfill(scope, name, period),
    occurrences: async (name, options) => {
      const { state, ...page } = optionsOf(options, 'occurrences')
      checkState(state, OCCURRENCE_STATES, 'occurrence')
      // Of one that was deleted, too.
      const id = jobId(scope, takeName(scope, name, 'a job'))
      const query = state ? { index: 'byJobAndState', equals: [id, state] } : { index: 'byJob', equals: [id] }
      return listRows(scope, 'occurrences', query, page)
    },
    tick: async (options) => {
      checkOpen(scope.engine)
      const { tenants = 'own', ...unknown } = optionsOf(options, 'tick')
      checkKnown(unknown, 'tick')
      if (tenants !== 'own' && tenants !== 'all') throw invalidOption('tenants', "'own' or 'all'", tenants)
      if (tenants === 'all' && only !== undefined)
        throw refuse('TENANT_WALL', { tenant: scope.tenant, call: "cron.tick({ tenants: 'all' })" })
      return scope.engine.scheduler.tick(CRON_CLOCK, tenants === 'all' ? undefined : scope.tenant)
    },
    prune: async (options) => {
      checkOpen(scope.engine)
      return pruneOccurrences(scope, takeBefore(options))
    },
  }
}
