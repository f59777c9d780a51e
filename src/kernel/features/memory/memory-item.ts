// An item as callers see it.

import type { Json } from '../../../model/data.ts'
import type { MemoryId, MemoryKind, MemoryLink, MemoryRow, MemorySource, MemoryValidity } from '../../../model/memory.ts'

export interface MemoryItem {
  readonly id: MemoryId
  readonly text: string
  readonly about: string
  readonly kind: MemoryKind
  readonly tags: readonly string[]
  readonly source?: MemorySource
  /** From 0 to 1; 0.5 if nothing was said. */
  readonly importance: number
  /** From 0 to 1; 1 if nothing was said. */
  readonly confidence: number
  readonly metadata?: Readonly<Record<string, Json>>
  readonly valid?: MemoryValidity
  readonly links: readonly MemoryLink[]
  /** Store time from which it counts as absent. */
  readonly expires?: number
  readonly at: number
  readonly refreshedAt: number
  /** How often it was remembered. */
  readonly times: number
}

export const IMPORTANCE = 0.5
export const CONFIDENCE = 1

export const toItem = (row: MemoryRow): MemoryItem => ({
  id: row.id,
  text: row.text ?? '',
  about: row.about,
  kind: row.kind,
  tags: row.tags ?? [],
  ...(row.source && { source: row.source }),
  importance: row.importance ?? IMPORTANCE,
  confidence: row.confidence ?? CONFIDENCE,
  ...(row.metadata && { metadata: row.metadata }),
  ...(row.valid && { valid: row.valid }),
  links: row.links ?? [],
  ...(row.expires !== undefined && { expires: row.expires }),
  at: row.at,
  refreshedAt: row.refreshedAt,
  times: row.times,
})
