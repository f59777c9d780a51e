// The types of this feature that users see.

export type { Usage, UsageCounts } from '../../model/usage.ts'
export type { UsageGiven } from './ledger.ts'
export type { UsageGroup, UsageQuery, UsageSum } from './report.ts'
