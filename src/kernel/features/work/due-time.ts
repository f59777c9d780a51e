// When an item becomes due: after a delay, or at a time.

import { refuse } from '../../../model/errors.ts'
import { invalidOption } from '../../../model/options.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'

export interface DueOptions {
  /** Delay before the item becomes due. */
  readonly delay?: Duration
  /** When the item becomes due, by the store's clock. Not together with `delay`. */
  readonly at?: Date | number
}

export interface DueTime {
  readonly delayMs?: number
  readonly notBefore?: number
}

export function takeDue({ delay, at }: { readonly [Option in keyof DueOptions]: DueOptions[Option] | undefined }): DueTime {
  if (delay !== undefined && at !== undefined) throw refuse('OPTION_INVALID', { option: 'at', why: 'pass delay or at, not both' })
  if (delay !== undefined) return { delayMs: milliseconds(delay) }
  if (at === undefined) return {}
  const notBefore = at instanceof Date ? at.getTime() : at
  if (typeof notBefore !== 'number' || !Number.isSafeInteger(notBefore)) throw invalidOption('at', 'a Date or Unix milliseconds', at)
  return { notBefore }
}
