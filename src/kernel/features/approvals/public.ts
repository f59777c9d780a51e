// The types of this feature that users see.

export type {
  ApprovalDelivery,
  ApprovalRow,
  ApprovalSeen,
  ApprovalState,
  Decision,
  PermitRow,
  PermitState,
  Risk,
} from '../../../model/approval.ts'
export type { ExportCheck, ExportFilter, ExportLines, ExportReport } from '../../../model/approval-export.ts'
export type { ApprovalListOptions } from './approvals.ts'
export type { AskOptions } from './asking.ts'
export type { DecideOptions, WithdrawOptions } from './decide.ts'
export type { ApprovalRecord, ExportOptions } from './export.ts'
export type { ApprovalFilter } from './filter.ts'
export type { DeliveredOptions, HistoryEntry } from './history.ts'
export type { PermitListOptions, RevokeOptions } from './permits.ts'
export type { RequestOptions } from './request.ts'
export type { Approvals } from './surface.ts'
