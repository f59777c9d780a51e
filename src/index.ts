// The public door.

export type { AppendOptions, NewEvent } from './kernel/append.ts'
export type { ApprovalListOptions } from './kernel/approvals/approvals.ts'
export type { AskOptions } from './kernel/approvals/asking.ts'
export type { DecideOptions, WithdrawOptions } from './kernel/approvals/decide.ts'
export type { ApprovalRecord, ExportOptions } from './kernel/approvals/export.ts'
export type { DeliveredOptions, HistoryEntry } from './kernel/approvals/history.ts'
export type { PermitListOptions, RevokeOptions } from './kernel/approvals/permits.ts'
export type { RequestOptions } from './kernel/approvals/request.ts'
export type { Approvals } from './kernel/approvals/surface.ts'
export type { BlobOptions, StoreBlobs } from './kernel/blobs.ts'
export type { Cron, JobListOptions, OccurrenceListOptions, TickOptions } from './kernel/cron/jobs.ts'
export type { PolicyOptions } from './kernel/cron/policy.ts'
export type { ScheduleOptions } from './kernel/cron/schedule.ts'
export type { JobOptions } from './kernel/cron/set-job.ts'
export type { EraseOptions, EraseReport } from './kernel/erase.ts'
export type { Latency } from './kernel/histogram.ts'
export type { CancelOutcome, CancelWord, InputRef } from './kernel/inputs/cancel-inputs.ts'
export type { Listing, PruneOptions } from './kernel/inputs/lists.ts'
export type { WhyNone } from './kernel/inputs/next-inbox-items.ts'
export type { Input, InputOptions, OfferedInput } from './kernel/inputs/offer-input.ts'
export type { InboxCancelOutcome, InboxItem, InboxOfferOptions, OfferedInboxItem, SessionInbox } from './kernel/inputs/session-inbox.ts'
export type { SessionInputs } from './kernel/inputs/session-inputs.ts'
export type { InboxClaim, InboxOptions, TakenInboxItem } from './kernel/inputs/take-inbox-items.ts'
export type { TakeInputsOptions, TakenInput } from './kernel/inputs/take-inputs.ts'
export type { Page, PageOptions } from './kernel/list.ts'
export type { AgentProcess, HeldProcess } from './kernel/processes/agent-process.ts'
export type { DeclaredEvent, RegisterOptions } from './kernel/processes/definition.ts'
export type { CompleteOptions, EndOptions, ProcessResult } from './kernel/processes/ending.ts'
export type { EventOptions, ProcessEvent, ProcessEventQuery, ToldEvent } from './kernel/processes/events.ts'
export type { GrantListOptions, ProcessGrant } from './kernel/processes/grants.ts'
export type { ProcessNode, ProcessNodeStats, ProcessWorkOptions } from './kernel/processes/node.ts'
export type { LeavingReport } from './kernel/processes/on-session-deleted.ts'
export type { HoldOptions } from './kernel/processes/process-lease.ts'
export type { PruneReport } from './kernel/processes/prune.ts'
export type { ProcessListOptions, ProcessRegistry } from './kernel/processes/registry.ts'
export type { ProcessHandler, RunningProcess } from './kernel/processes/run-process.ts'
export type { WakeOption } from './kernel/processes/wake.ts'
export type { PruneBefore } from './kernel/prune-options.ts'
export type { EventPage, EventQuery } from './kernel/read.ts'
export type { Difference, RebuildOptions, RebuildReport } from './kernel/rebuild.ts'
export type { RedactOptions } from './kernel/redact/redactor.ts'
export type { Resolution, RunListOptions } from './kernel/runs/admin.ts'
export type { All, Begun, Branch, Within } from './kernel/runs/branch.ts'
export type { Child } from './kernel/runs/child.ts'
export { type EffectContext, type EffectOptions, FinalError, type RetryOptions } from './kernel/runs/effect.ts'
export type { ForkOptions } from './kernel/runs/fork.ts'
export type { RunHolder } from './kernel/runs/holder.ts'
export type { LeaseOptions } from './kernel/runs/keeper.ts'
export type { Handler, RunNode, RunNodeOptions, RunNodeStats } from './kernel/runs/node.ts'
export type { Run } from './kernel/runs/run.ts'
export type { SendOptions } from './kernel/runs/signal.ts'
export type { RunHandle, StartOptions } from './kernel/runs/start.ts'
export type { RunOptions } from './kernel/runs/take-up.ts'
export type { UsageGiven } from './kernel/runs/usage.ts'
export type { ListOptions } from './kernel/sessions/find-session.ts'
export type { Session } from './kernel/sessions/session.ts'
export type { SessionOptions } from './kernel/sessions/session-options.ts'
export type { Health, MaintenanceReport, Stats, Store } from './kernel/store.ts'
export type { Delivered, Fired, FireOptions, Reserved } from './kernel/triggers/fire.ts'
export type { Firing, HistoryOptions, TriggerDelivery } from './kernel/triggers/history.ts'
export type { PrunedFirings } from './kernel/triggers/prune.ts'
export type { ExpectOptions, TriggerOptions } from './kernel/triggers/set-trigger.ts'
export type { TriggerListOptions, Triggers } from './kernel/triggers/triggers.ts'
export type { EventState, Problem, VerifyOptions, VerifyReport } from './kernel/verify.ts'
export type { RedriveOptions } from './kernel/work/admin.ts'
export type { Claim, FailOptions } from './kernel/work/claim.ts'
export type { WorkHolder } from './kernel/work/holder.ts'
export type { OfferOptions, WorkItem } from './kernel/work/offer.ts'
export type { ClaimOptions, Queue, Tried, WhyEmpty, WorkListOptions } from './kernel/work/queue.ts'
export type { QueueWorker, WorkerOptions, WorkerStats, WorkHandler } from './kernel/work/worker/worker-options.ts'
export type {
  ApprovalDelivery,
  ApprovalRow,
  ApprovalSeen,
  ApprovalState,
  Decision,
  PermitRow,
  PermitState,
  Risk,
} from './model/approval.ts'
export type { ExportCheck, ExportLines, ExportReport } from './model/approval-export.ts'
export type { BlobRef } from './model/blob.ts'
export { type CatalogueEntry, catalogue } from './model/catalogue.ts'
export { type ErrorCode, type ErrorKind, InkError } from './model/errors.ts'
export type { Event, Receipt } from './model/event.ts'
export type { EventId, Id, RunId, SessionId, TenantId } from './model/ids.ts'
export type { ClaimId, InboxDelivery, InboxHold, InboxItemId, InboxKind, InboxRow, InboxState } from './model/inbox.ts'
export type { InputBoundary, InputId, InputRow, InputState } from './model/input.ts'
export type { JobPolicy, JobRow, JobState, OccurrenceRow, OccurrenceState, Schedule } from './model/job.ts'
export { limits } from './model/limits.ts'
export type {
  EventTypeSpec,
  Evidence,
  ProcessId,
  ProcessRequest,
  ProcessRow,
  ProcessState,
  Provenance,
  Recovery,
  Reference,
  Started,
  TerminalSpec,
  WakeNote,
  WakeSpec,
} from './model/process.ts'
export type { Backlog, TypeUsage } from './model/queries.ts'
export type { ErrorData, RunRow, RunState, Usage, Wait } from './model/run.ts'
export type { Selector } from './model/selector.ts'
export type { BranchState, SessionRelation, SessionRow, SessionState } from './model/session.ts'
export type { TenantState } from './model/tenant.ts'
export type { Duration } from './model/time.ts'
export type { FiringId, TriggerDeliveryId, TriggerDeliveryState, TriggerId, TriggerRow, TriggerState } from './model/trigger.ts'
export type { Backoff, WorkState } from './model/work.ts'
export { open, type StoreOptions } from './open.ts'
export type { Backend, BackendTraits } from './ports/backend.ts'
export type { Clock, Entropy, Logger } from './ports/environment.ts'
export type { Measure } from './ports/upkeep.ts'
export { verifyApprovals } from './verify-approvals.ts'
