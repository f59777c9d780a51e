// The types of this feature that users see.

export type { Collected, CollectOptions, CollectReport } from './collect.ts'
export type { ValueMembers } from './feature.ts'
export type { StoreValues, ValueOptions } from './values.ts'
