// Options of `open` for memory: the weights of the ranking, and the limits of maintenance.

import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'
import { takeLine } from '../cron/line.ts'
import { type RankingWeights, takeWeights } from './ranking.ts'

export interface Capacity {
  readonly entries?: number
  /** Bytes of text. */
  readonly bytes?: number
}

export interface MemoryOptions {
  /** Replaces some of the default weights. */
  readonly weights?: Partial<RankingWeights>
  /** The most that one scope may keep. Without it, there is no limit. */
  readonly scope?: Capacity
  /** The most that one tenant may keep. */
  readonly tenant?: Capacity
  /** Items that were not remembered or changed for this many days are removed. */
  readonly retentionDays?: number
  /** How often a node that has the scheduler maintains memory; 5 minutes by default. */
  readonly every?: Duration
  /** When the space of removed items is given back: a cron line in UTC, `0 0 * * 0` by default. */
  readonly vacuum?: string
}

export const EVERY_MS = 5 * 60_000

export function checkMemoryOptions(given: MemoryOptions | undefined): void {
  const { weights, scope, tenant, retentionDays, every, vacuum, ...unknown } = optionsOf(given, 'memory')
  checkKnown(unknown, 'the option memory')
  takeWeights(weights)
  for (const [name, capacity] of Object.entries({ scope, tenant })) {
    const { entries, bytes, ...rest } = optionsOf(capacity, `memory.${name}`)
    checkKnown(rest, `memory.${name}`)
    for (const [what, most] of Object.entries({ entries, bytes }))
      if (most !== undefined && (!Number.isSafeInteger(most) || most < 0))
        throw invalidOption(`memory.${name}.${what}`, 'an integer ≥ 0', most)
  }
  if (retentionDays !== undefined && !(Number.isFinite(retentionDays) && retentionDays > 0))
    throw invalidOption('memory.retentionDays', 'a number above 0', retentionDays)
  if (every !== undefined && milliseconds(every) < 1000) throw invalidOption('memory.every', 'at least one second', every)
  if (vacuum !== undefined) takeLine(vacuum)
}
