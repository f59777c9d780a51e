// The types of this feature that users see.

export type { ValuePart } from '../../../model/value-part.ts'
export type { Collected, CollectOptions, CollectReport } from './collect.ts'
export type { ValueMembers } from './feature.ts'
export type { PartOptions, ReadValueOptions, StoreValues, ValueOptions } from './values.ts'
