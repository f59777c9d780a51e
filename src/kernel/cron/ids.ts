// Ids that follow from a job and a time: whoever decides on an occurrence, decides on the same one.

import type { Id } from '../../model/ids.ts'
import type { JobId, OccurrenceId } from '../../model/job.ts'
import { derivedId } from '../derived-id.ts'
import type { Scope } from '../scope.ts'

/** Where the scheduler finds jobs. */
export const CRON_CLOCK = 'clock/cron'

const derived = <Name extends string>(scope: Scope, text: string): Id<Name> => derivedId<Name>(scope, `cron/${text}`)

/** A job that is made again under its name is the same: what came of its times before stays its history. */
export const jobId = (scope: Scope, name: string): JobId => derived<'job'>(scope, `job/${name}`)

export const occurrenceId = (scope: Scope, job: JobId, due: number | string): OccurrenceId => derived<'occurrence'>(scope, `${job}/${due}`)

/** What is told of a range that was missed. Its first time is still free for somebody who makes up for it. */
export const missedId = (scope: Scope, job: JobId, first: number): OccurrenceId => occurrenceId(scope, job, `missed/${first}`)

/** The item by which an occurrence is worked on. */
export const occurrenceItem = (scope: Scope, id: OccurrenceId): Id<'work'> => derived<'work'>(scope, `item/${id}`)

/** The item by which the scheduler finds the job. */
export const clockItem = (scope: Scope, job: JobId): Id<'work'> => derived<'work'>(scope, `clock/${job}`)
