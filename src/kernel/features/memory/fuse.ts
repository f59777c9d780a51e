// Fuses the candidates of all legs into hits that explain themselves, and folds near-duplicates.

import type { MemoryId, MemoryRow } from '../../../model/memory.ts'
import { tokensOf } from '../../../model/text/tokens.ts'
import type { Candidate } from './legs.ts'
import { CONFIDENCE, IMPORTANCE, type MemoryItem, toItem } from './memory-item.ts'
import type { RankingWeights } from './ranking.ts'

export interface LegReason {
  readonly leg: 'words' | 'vectors'
  /** The place of the item among the candidates of the leg, from 1 on. */
  readonly rank: number
  /** In the leg's own unit. */
  readonly score: number
  /** From 0 to 1. */
  readonly calibrated: number
  readonly weight: number
  /** The stems of the question that the item has. */
  readonly terms?: readonly string[]
}

export interface Effect {
  readonly value: number
  /** The factor of the score. */
  readonly factor: number
}

export interface Why {
  readonly legs: readonly LegReason[]
  /** In days. */
  readonly age: Effect
  readonly confidence: Effect
  readonly importance: Effect
  /** Near-duplicates that were folded into this hit. */
  readonly duplicates?: readonly MemoryId[]
}

export interface Hit {
  readonly item: MemoryItem
  readonly score: number
  readonly why: Why
}

export interface LegResult {
  readonly name: LegReason['leg']
  readonly candidates: readonly Candidate[]
}

interface Fused {
  readonly row: MemoryRow
  readonly born: number
  readonly reasons: readonly LegReason[]
}

const DAY_MS = 86_400_000
/** Hits that are compared with each other. */
const FOLDED_MOST = 128

export function fuse(legs: readonly LegResult[], weights: RankingWeights, now: number, limit: number): readonly Hit[] {
  const items = new Map<number, Fused>()
  for (const { name, candidates } of legs)
    for (const [i, { row, born, score, calibrated, terms }] of candidates.entries()) {
      const reason = { leg: name, rank: i + 1, score, calibrated, weight: weights[name], ...(terms && { terms }) }
      items.set(born, { row, born, reasons: [...(items.get(born)?.reasons ?? []), reason] })
    }
  const hits = [...items.values()]
    .map((fused) => ({ born: fused.born, hit: toHit(fused, weights, now) }))
    .filter(({ hit }) => hit.score > 0)
    .sort((a, b) => b.hit.score - a.hit.score || a.born - b.born)
    .map(({ hit }) => hit)
  return [...fold(hits.slice(0, FOLDED_MOST)), ...hits.slice(FOLDED_MOST)].slice(0, limit)
}

function toHit({ row, reasons }: Fused, weights: RankingWeights, now: number): Hit {
  const days = Math.max(0, Math.floor((now - (row.valid?.from ?? row.refreshedAt)) / DAY_MS))
  const age = { value: days, factor: 1 - weights.age * (1 - 2 ** (-days / Math.max(1, weights.halfLifeDays))) }
  const sure = row.confidence ?? CONFIDENCE
  const confidence = { value: sure, factor: Math.max(0, 1 - weights.confidence * (1 - sure)) }
  const important = row.importance ?? IMPORTANCE
  const importance = { value: important, factor: Math.max(0, 1 + weights.importance * (important - IMPORTANCE)) }
  const found = reasons.reduce((sum, { weight, calibrated }) => sum + weight * calibrated, 0)
  return {
    item: toItem(row),
    score: found * age.factor * confidence.factor * importance.factor,
    why: { legs: reasons, age, confidence, importance },
  }
}

/** Texts with almost the same words are one hit. Numbers count: two invoices that differ in their number are two. */
function fold(hits: readonly Hit[]): readonly Hit[] {
  const kept: { readonly words: ReadonlySet<string>; readonly duplicates: MemoryId[]; readonly hit: Hit }[] = []
  for (const hit of hits) {
    const words = new Set(tokensOf(hit.item.text))
    const twin = kept.find((other) => other.hit.item.about === hit.item.about && isSame(other.words, words))
    if (twin) twin.duplicates.push(hit.item.id)
    else kept.push({ words, duplicates: [], hit })
  }
  return kept.map(({ hit, duplicates }) => (duplicates.length === 0 ? hit : { ...hit, why: { ...hit.why, duplicates } }))
}

const SAME_SHARE = 0.9

function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const apart = [...[...a].filter((term) => !b.has(term)), ...[...b].filter((term) => !a.has(term))]
  const shared = (a.size + b.size - apart.length) / 2
  return shared > 0 && shared / (shared + apart.length) >= SAME_SHARE && !apart.some((term) => /\p{N}|^not$|^never$|^no$/u.test(term))
}
