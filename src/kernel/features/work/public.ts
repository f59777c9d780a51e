// The types of this feature that users see.

export type { Backlog } from '../../../model/queries.ts'
export type { Unhandled } from '../../../model/unhandled.ts'
export type { Backoff, WorkState } from '../../../model/work.ts'
export type { BackoffOptions } from '../../time/backoff.ts'
export type { RedriveOptions } from './admin.ts'
export type { Claim, FailOptions } from './claim.ts'
export type { OfferOptions, WorkItem } from './offer.ts'
export type { ClaimOptions, Queue, QueueOptions, Tried, WhyEmpty, WorkListOptions } from './queue.ts'
export type { QueueWorker, WorkerOptions, WorkerStats, WorkHandler } from './worker/worker-options.ts'
