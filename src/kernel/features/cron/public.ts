// The types of this feature that users see.

export type { JobPolicy, JobRow, JobState, OccurrenceRow, OccurrenceState, Schedule } from '../../../model/job.ts'
export type { Cron, JobListOptions, OccurrenceListOptions, TickOptions } from './jobs.ts'
export type { PolicyOptions } from './policy.ts'
export type { ScheduleOptions } from './schedule.ts'
export type { JobOptions } from './set-job.ts'
