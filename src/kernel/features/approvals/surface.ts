// The public API of approvals for one tenant.

import type { ApprovalRow, PermitRow } from '../../../model/approval.ts'
import type { Page } from '../../reading/list-rows.ts'
import type { Scope } from '../../wiring/scope.ts'
import { type ApprovalListOptions, getApproval, listApprovals } from './approvals.ts'
import { type DecideOptions, decideApproval, type WithdrawOptions, withdrawApproval } from './decide.ts'
import { type ExportOptions, exportApprovals } from './export.ts'
import { type DeliveredOptions, deliveredApproval, type HistoryEntry, historyOf, seenApproval } from './history.ts'
import { listPermits, type PermitListOptions, type RevokeOptions, revokePermit } from './permits.ts'
import { type RequestOptions, requestApproval, waitForApproval } from './request.ts'

export interface Approvals {
  /** Asks outside of a run, once for each key. A permit decides at once. */
  request(options: RequestOptions): Promise<ApprovalRow>
  /** Waits until it is decided, expired or withdrawn. */
  wait(id: string, options?: { readonly signal?: AbortSignal }): Promise<ApprovalRow>
  list(options?: ApprovalListOptions): Promise<Page<ApprovalRow>>
  get(id: string): Promise<ApprovalRow | undefined>
  /** Decides a question. The first answer counts. */
  decide(id: string, options: DecideOptions): Promise<ApprovalRow>
  /** Withdraws a question that is no longer needed. */
  withdraw(id: string, options?: WithdrawOptions): Promise<ApprovalRow>
  /** Records that the question was handed to a channel. */
  delivered(id: string, options: DeliveredOptions): Promise<ApprovalRow>
  /** Records that a person looked at it. */
  seen(id: string, options: { readonly by: string }): Promise<ApprovalRow>
  /** Lists who asked, delivered, saw and decided, and when, oldest first. */
  history(id: string, options?: { readonly signal?: AbortSignal }): AsyncGenerator<HistoryEntry, void, undefined>
  /** Exports hash-chained lines of NDJSON. `verifyApprovals` checks them without a store. */
  export(options?: ExportOptions): AsyncGenerator<string, void, undefined>
  /** Permits: answers that were given for more than one question. */
  readonly permits: {
    list(options?: PermitListOptions): Promise<Page<PermitRow>>
    /** Revokes a permit: people are asked again. */
    revoke(id: string, options?: RevokeOptions): Promise<PermitRow>
  }
}

export const approvalsOf = (scope: Scope): Approvals => ({
  request: (options) => requestApproval(scope, options),
  wait: (id, options) => waitForApproval(scope, id, options),
  list: (options) => listApprovals(scope, options),
  get: (id) => getApproval(scope, id),
  decide: (id, options) => decideApproval(scope, id, options),
  withdraw: (id, options) => withdrawApproval(scope, id, options),
  delivered: (id, options) => deliveredApproval(scope, id, options),
  seen: (id, options) => seenApproval(scope, id, options),
  history: (id, options) => historyOf(scope, id, options),
  export: (options) => exportApprovals(scope, options),
  permits: {
    list: (options) => listPermits(scope, options),
    revoke: (id, options) => revokePermit(scope, id, options),
  },
})
