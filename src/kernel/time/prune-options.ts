// The option `before` of the calls that prune.

import { refuse } from '../../model/errors.ts'
import { checkKnown, optionsOf } from '../../model/options.ts'

export interface PruneBefore {
  readonly before: Date | number
}

export function takeBefore(options: PruneBefore): number {
  const { before, ...unknown } = optionsOf(options, 'prune')
  checkKnown(unknown, 'prune')
  const time = before instanceof Date ? before.getTime() : before
  if (typeof time !== 'number' || !Number.isFinite(time))
    throw refuse('RANGE_INVALID', { why: 'pass the time up to which to prune as `before`' })
  return time
}
