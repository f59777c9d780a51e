// The types of this feature that users see.

export type { Refusal } from '../../../model/refusal.ts'
export type { AuditListOptions } from './list-refusals.ts'
