// A pin keeps a value or a blob that nothing else refers to.

import type { Id } from './ids.ts'

export interface PinRow {
  readonly id: Id<'pin'>
  /** The ref of a value, or `blob:` and a digest. */
  readonly ref: string
}
