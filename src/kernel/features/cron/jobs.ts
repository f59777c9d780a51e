// The public API of cron: jobs are set by name, paused, resumed, run by hand, backfilled and listed.

import { refuse } from '../../../model/errors.ts'
import type { TenantId } from '../../../model/ids.ts'
import type { JobRow, JobState, OccurrenceRow, OccurrenceState } from '../../../model/job.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, expected, filterOf, invalidOption, optionsOf } from '../../../model/options.ts'
import { takeName } from '../../naming/names.ts'
import { deny } from '../../proof/audit-trail.ts'
import { checkState, listRows, type Page, type PageOptions } from '../../reading/list-rows.ts'
import { type PruneBefore, takeBefore } from '../../time/prune-options.ts'
import { storeNow } from '../../time/store-time.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import type { Ticked } from '../work/scheduler.ts'
import { schedulerOf } from '../work/scheduler.ts'
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
  /** Creates a job or changes it. A new schedule is counted from now; an unchanged schedule goes on. Setting the same again changes nothing. */
  set(name: string, options: JobOptions): Promise<JobRow>
  get(name: string): Promise<JobRow | undefined>
  list(options?: JobListOptions): Promise<Page<JobRow>>
  /** The next times of the job. */
  preview(name: string, count?: number): Promise<readonly number[]>
  pause(name: string, options?: { readonly reason?: string }): Promise<JobRow>
  /** Continues with the next time from now. Times that passed while the job was paused are not made up for. */
  resume(name: string): Promise<JobRow>
  /** Deletes the job. A running occurrence goes on, a waiting one is skipped, and the history stays. */
  delete(name: string): Promise<void>
  /** Starts one more occurrence now, also while another runs. */
  run(name: string): Promise<OccurrenceRow>
  /** Starts every time of the period that has not come up before. */
  backfill(
    name: string,
    period: { readonly from: Date | number | string; readonly to: Date | number | string },
  ): Promise<{ readonly offered: number; readonly known: number }>
  /** The occurrences of a job and their outcomes, latest first. */
  occurrences(name: string, options?: OccurrenceListOptions): Promise<Page<OccurrenceRow>>
  /**
   * Fires the jobs that are due now and returns when that is done. It is for a node that was opened with `schedule: false`, and for an
   * external timer. Any number of nodes may call it at once, also while others schedule by themselves.
   */
  tick(options?: TickOptions): Promise<Ticked>
  /** Removes the occurrences of all jobs that ended before this time. The journal keeps their events. */
  prune(options: PruneBefore): Promise<{ readonly forgotten: number }>
}

export interface TickOptions {
  /** `all` fires the jobs of every tenant, if the store may see them all. The default is the store's own tenant. */
  readonly tenants?: 'own' | 'all'
}

const JOB_STATES: readonly JobState[] = ['active', 'paused', 'over']
const OCCURRENCE_STATES: readonly OccurrenceState[] = ['waiting', 'running', 'done', 'failed', 'cancelled', 'skipped', 'missed']

/** `only` is the tenant that this store is limited to. */
export function cronOf(scope: Scope, only: TenantId | undefined): Cron {
  const ready = () => {
    checkOpen(scope.engine)
    schedulerOf(scope.engine).start()
  }
  return {
    set: async (name, options) => {
      ready()
      return setJob(scope, name, options)
    },
    get: async (name) => (await findJob(scope, name))?.body,
    list: async (options) => {
      const { state, ...page } = filterOf(options, 'cron.list')
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
      const { state, ...page } = filterOf(options, 'cron.occurrences')
      checkState(state, OCCURRENCE_STATES, 'occurrence')
      // A deleted job still has its history.
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
        throw deny(scope, 'TENANT_WALL', { tenant: scope.tenant, call: "cron.tick({ tenants: 'all' })" })
      return schedulerOf(scope.engine).tick(CRON_CLOCK, tenants === 'all' ? undefined : scope.tenant)
    },
    prune: async (options) => {
      checkOpen(scope.engine)
      return pruneOccurrences(scope, takeBefore(options))
    },
  }
}
