// The types of this feature that users see.

export type { StoreValues, ValueOptions } from './values.ts'
