// Legs of a recall: each finds candidates in its own way and says how sure it is, on a scale from 0 to 1 that fits the other legs.

import type { MemoryRow } from '../../../model/memory.ts'
import type { Scope } from '../../wiring/scope.ts'
import type { TakenFilter } from './item-filter.ts'

export interface Question {
  readonly filter: TakenFilter
  /** Store time, or the time that the caller asks about. */
  readonly now: number
  /** Also items that another one replaced. */
  readonly replaced: boolean
  /** Also items that are not true at this time. */
  readonly untrue: boolean
  /** Whether hash embeddings have a vote. */
  readonly hashVotes: boolean
  /** The number of hits that the caller wants. */
  readonly limit: number
  /** Whether a candidate may be returned: its scope, filter, expiry and validity. */
  readonly allows: (row: MemoryRow) => boolean
  readonly signal?: AbortSignal | undefined
}

export interface Candidate {
  readonly row: MemoryRow
  readonly born: number
  /** In the leg's own unit. */
  readonly score: number
  /** From 0 to 1, comparable between legs. */
  readonly calibrated: number
  /** The words that the item was found by. */
  readonly terms?: readonly string[]
}

export interface Found {
  /** Best first. */
  readonly candidates: readonly Candidate[]
  /** Why the leg could not do all of its work. Its candidates still count. */
  readonly degraded?: string
  /** The leg has nothing to look in, for instance no embeddings: it is not named among the legs that were used. */
  readonly absent?: boolean
}

export type LegName = 'words' | 'vectors'

export interface Leg {
  readonly name: LegName
  /** The question is there when the store has told its time. A leg may read meanwhile. */
  find(scope: Scope, text: string, question: Promise<Question>): Promise<Found>
}
