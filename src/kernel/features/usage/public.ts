// The types of this feature that users see.

export type { Usage, UsageCounts } from '../../../model/usage.ts'
export type { UsageCall, UsageGiven, UsageOf } from './ledger.ts'
export type { UsageGroup, UsageQuery, UsageSum } from './report.ts'
export type { TokenUsage } from './token-usage.ts'
