// Ids that follow from a job and a time, so that all nodes decide on the same occurrence.

import type { Id } from '../../../model/ids.ts'
import type { JobId, OccurrenceId } from '../../../model/job.ts'
import { derivedId } from '../../naming/derived-id.ts'
import type { Scope } from '../../wiring/scope.ts'

/** The queue in which the scheduler finds jobs. */
export const CRON_CLOCK = 'clock/cron'

const derived = <Name extends string>(scope: Scope, text: string): Id<Name> => derivedId<Name>(scope, `cron/${text}`)

/** A job that is set again under its old name is the same job and keeps its history. */
export const jobId = (scope: Scope, name: string): JobId => derived<'job'>(scope, `job/${name}`)

export const occurrenceId = (scope: Scope, job: JobId, due: number | string): OccurrenceId => derived<'occurrence'>(scope, `${job}/${due}`)

/** The record of a range of missed times. Its first time is still free for a backfill. */
export const missedId = (scope: Scope, job: JobId, first: number): OccurrenceId => occurrenceId(scope, job, `missed/${first}`)

/** The work item of an occurrence. */
export const occurrenceItem = (scope: Scope, id: OccurrenceId): Id<'work'> => derived<'work'>(scope, `item/${id}`)

/** The item by which the scheduler finds the job. */
export const clockItem = (scope: Scope, job: JobId): Id<'work'> => derived<'work'>(scope, `clock/${job}`)
