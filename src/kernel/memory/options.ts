// What a store is opened with: the weights of the ranking.

import { checkKnown, optionsOf } from '../../model/options.ts'
import { type RankingWeights, takeWeights } from './ranking.ts'

export interface MemoryOptions {
  /** Replaces some of the default weights. */
  readonly weights?: Partial<RankingWeights>
}

export function checkMemoryOptions(given: MemoryOptions | undefined): void {
  const { weights, ...unknown } = optionsOf(given, 'memory')
  checkKnown(unknown, 'the option memory')
  takeWeights(weights)
}
