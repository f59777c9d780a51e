// The types of this feature that users see.

export type { LeaseOptions } from './keeper.ts'
