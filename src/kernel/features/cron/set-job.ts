// Sets a job: checks its options, and writes it together with the work item by which the scheduler finds it.

import { canonical } from '../../../model/canonical.ts'
import type { JobId, JobRow } from '../../../model/job.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { store } from '../../content/json-or-blob.ts'
import { takeName } from '../../naming/names.ts'
import { storeNow } from '../../time/store-time.ts'
import type { Scope } from '../../wiring/scope.ts'
import { NOT_THERE, part, plan } from '../../writing/execute.ts'
import { retryConflicts } from '../../writing/retry-conflicts.ts'
import { type OfferOptions, offerPart, takeOffer, takeQueue } from '../work/offer.ts'
import { schedulerOf } from '../work/scheduler.ts'
import { work } from '../work/work-decider.ts'
import { beginsAfter } from './due.ts'
import { findJob } from './find-job.ts'
import { dueOf } from './fire.ts'
import { CRON_CLOCK, clockItem, jobId } from './ids.ts'
import { job as decider, isSame, type JobDefinition, type JobTimes } from './job-decider.ts'
import { type PolicyOptions, takePolicy } from './policy.ts'
import { isFromFinish, type ScheduleOptions, takeSchedule } from './schedule.ts'

export interface JobOptions extends ScheduleOptions, PolicyOptions, Pick<OfferOptions, 'priority' | 'group' | 'attempts' | 'backoff'> {
  /** The queue that gets an item for each occurrence. */
  readonly queue: string
  readonly payload?: unknown
  /** Pauses the job after this number of failures in a row; `true` is one. */
  readonly pauseOnFailure?: boolean | number
}

export async function setJob(scope: Scope, given: string, options: JobOptions): Promise<JobRow> {
  const name = takeName(scope, given, 'a job')
  const { queue: into, payload, pauseOnFailure = false, priority, group, attempts, backoff, ...rest } = optionsOf(options, 'job')
  const queue = takeQueue(scope, into)
  const { cron, zone, every, from, anchor, at, overlap, missed, catchUp, jitter, ...unknown } = rest
  checkKnown(unknown, 'a job')
  const only = <T extends object>(some: T): T => Object.fromEntries(Object.entries(some).filter(([, value]) => value !== undefined)) as T
  const schedule = takeSchedule(only({ cron, zone, every, from, anchor, at }) as ScheduleOptions)
  const policy = takePolicy(only({ overlap, missed, catchUp, jitter }) as PolicyOptions)
  const pauseAfter = pauseOnFailure === true ? 1 : pauseOnFailure === false ? undefined : pauseOnFailure
  if (pauseAfter !== undefined && (!Number.isSafeInteger(pauseAfter) || pauseAfter < 1))
    throw invalidOption('pauseOnFailure', 'true, false or a number of failures in a row', pauseOnFailure)
  const { delayMs: _, ...offer } = takeOffer(scope, queue, only({ priority, group, attempts, backoff }) as OfferOptions)
  const stored = await store(scope, payload, { of: `the payload of the cron job '${name}'` })
  const definition: JobDefinition = {
    name,
    schedule,
    policy,
    queue,
    payload: stored,
    offer,
    ...(pauseAfter !== undefined && { pauseAfter }),
  }
  // The conflict: another writer set or deleted the job, or moved its clock.
  return retryConflicts(scope, ['jobs', 'work'], async () => {
    const known = await findJob(scope, name)
    const now = await storeNow(scope)
    const before = known?.body
    const id = jobId(scope, name)
    if (before && isSame(before, definition)) return before
    const kept = before && keepsTime(before, definition)
    const times = kept ? timesKept(scope, before, definition, now) : timesAnew(scope, id, before, definition, now)
    // A paused job stays paused until a caller resumes it.
    const paused = before?.state === 'paused'
    const over = kept && before.state === 'over'
    const item = clockItem(scope, id)
    const clock = known
      ? part(work, item, { verb: 'move', at: paused ? undefined : times.at })
      : offerPart(item, { queue: CRON_CLOCK, at: times.at ?? now, origin: { kind: 'clock', id } })
    const set = part(
      decider,
      id,
      { verb: 'set', definition, times: paused ? { through: before.through } : times, ...(over && { over }) },
      { seen: known ?? NOT_THERE },
    )
    // The guard makes sure that the clock is moved for this version of the job and no other.
    const guards = known ? [{ kind: 'row', table: 'jobs', id, revision: known.revision } as const] : []
    const { rows } = await plan(scope, [set, clock], { guards })
    schedulerOf(scope.engine).look()
    return rows[0].body as JobRow
  })
}

/** The schedule is the same, so a change of something else does not lose a time that is due and not started yet. */
const keepsTime = (before: JobRow, { schedule }: JobDefinition): boolean =>
  before.state !== 'paused' && canonical({ ...before.schedule }) === canonical({ ...schedule })

const timesKept = (scope: Scope, before: JobRow, definition: JobDefinition, now: number): JobTimes =>
  before.state === 'over' ? { through: before.through } : timesOf(scope, { ...before, ...definition }, now)

/** Counts the times from now on. Times that were decided stay decided, also when the clock was set back. */
function timesAnew(scope: Scope, id: JobId, before: JobRow | undefined, definition: JobDefinition, now: number): JobTimes {
  const begin = beginsAfter(definition.schedule, now)
  const through = before && definition.schedule.kind !== 'at' ? Math.max(begin, before.through) : begin
  return timesOf(scope, { ...definition, id, through, running: before?.running }, now)
}

/** The first time that is to come, and when to look for it. The scheduler finds the times that are due. */
export function timesOf(scope: Scope, job: Timed, now: number): JobTimes {
  const { through, running } = job
  // The end of the run decides the next time.
  if (running && isFromFinish(job.schedule)) return { through }
  const due = dueOf(scope, job, now)
  const { next, at } = due.start.length > 0 || due.missed ? { next: due.start[0], at: now } : due
  return { through, ...(next !== undefined && { next }), ...(at !== undefined && { at }) }
}

type Timed = Pick<JobRow, 'id' | 'schedule' | 'policy' | 'through' | 'running'>
