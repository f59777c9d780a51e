// Usage as callers give it, and sums of it. Counts are integers and sums stay exact.

import { refuse } from '../../../model/errors.ts'
import { checkKnown, expected, optionsOf } from '../../../model/options.ts'
import type { Usage, UsageCounts } from '../../../model/usage.ts'
import { flatCounts, isOfSdk, type TokenUsage } from './token-usage.ts'

/** Members that are counts. */
export interface UsageOf {
  readonly model: string
  /** The purpose, such as a turn, a tool or a summary. */
  readonly source?: string | undefined
  readonly costUsd?: number | undefined
}

/** Usage as callers give it: counts of their own, or those of the AI SDK, with the model. An absent count is zero. */
export interface UsageGiven extends TokenUsage, UsageOf {
  /** Part of `inputTokens`, as in the AI SDK. */
  readonly cacheReadTokens?: number | undefined
  readonly cacheWriteTokens?: number | undefined
}

/** The usage alone, or the counts and then what they are of: `usage(result.usage, { model: 'm' })`. */
export type UsageCall = readonly [usage: UsageGiven] | readonly [usage: TokenUsage, of: UsageOf]

/** Joins the arguments of a call. */
export function usageOf([counts, of]: UsageCall): UsageGiven {
  if (of === undefined) return counts as UsageGiven
  const { model, source, costUsd, ...unknown } = optionsOf(of, 'usage')
  checkKnown(unknown, 'usage')
  return { ...counts, model, ...(source !== undefined && { source }), ...(costUsd !== undefined && { costUsd }) }
}

const COUNTS = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'reasoningTokens'] as const
const SUMMED = [...COUNTS, 'costNanoUsd'] as const
const NANO = 1e9
const MEMBERS: readonly string[] = ['model', 'source', ...COUNTS, 'costUsd']

/** Checks usage. Returns undefined if nothing was used. */
export function takeUsage(given: UsageGiven, about: Readonly<Record<string, unknown>>): Usage | undefined {
  const wrong = (why: string) => refuse('USAGE_INVALID', { ...about, why })
  if (typeof given !== 'object' || given === null) throw wrong(expected('an object with a model and counts', given))
  const { model, source = 'run', costUsd = 0 } = given
  const misspelt = isOfSdk(given) ? undefined : Object.keys(given).find((name) => !MEMBERS.includes(name))
  if (misspelt !== undefined) throw unknownMember(misspelt, about)
  if (typeof model !== 'string' || model === '' || typeof source !== 'string')
    throw wrong('model must be a non-empty text, and source a text')
  const counts = countsIn(given, about)
  if (typeof costUsd !== 'number' || !(costUsd >= 0) || !Number.isSafeInteger(Math.round(costUsd * NANO)))
    throw wrong(`costUsd: ${expected('an amount in US dollars', costUsd)}`)
  const usage = { source, model, ...counts, costNanoUsd: Math.round(costUsd * NANO) }
  return SUMMED.some((name) => usage[name] > 0) ? usage : undefined
}

type About = Readonly<Record<string, unknown>>

/** Checks usage that is kept as it is, beside what it is of, and not counted. */
export function checkCounts(given: object, about: About): void {
  const misspelt = isOfSdk(given) ? undefined : Object.keys(given).find((name) => !MEMBERS.includes(name))
  if (misspelt !== undefined) throw unknownMember(misspelt, about)
  countsIn(given, about)
  checkParts(given, about)
}

/** Totals and parts of the counts are checked, too, though they are not counted. The provider's own members are left alone. */
function checkParts(given: object, about: About): void {
  for (const [name, part] of Object.entries(given)) {
    if (name === 'raw') continue
    if (typeof part === 'number' && part < 0) throw refuse('USAGE_INVALID', { ...about, why: `${name}: ${expected('a number ≥ 0', part)}` })
    if (typeof part === 'object' && part !== null) checkParts(part, about)
  }
}

const unknownMember = (name: string, about: About) =>
  refuse('USAGE_INVALID', { ...about, why: `'${name}' is not a member of usage: use ${MEMBERS.join(', ')}` })

function countsIn(given: TokenUsage, about: About): Readonly<Record<(typeof COUNTS)[number], number>> {
  const wrong = (why: string) => refuse('USAGE_INVALID', { ...about, why })
  const flat = flatCounts(given)
  const counts = COUNTS.map((name) => {
    const count = flat[name] ?? 0
    if (!Number.isSafeInteger(count) || (count as number) < 0) throw wrong(`${name}: ${expected('an integer ≥ 0', count)}`)
    return [name, count] as const
  })
  const sums = Object.fromEntries(counts) as Record<(typeof COUNTS)[number], number>
  if (sums.reasoningTokens > sums.outputTokens) throw wrong('reasoningTokens is part of outputTokens and cannot exceed it')
  return sums
}

/** The counts alone, without what they are counts of. */
export const countsOf = (usage: UsageCounts): UsageCounts =>
  Object.fromEntries(SUMMED.map((name) => [name, usage[name]])) as Record<(typeof SUMMED)[number], number>

export const NO_USAGE: UsageCounts = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  costNanoUsd: 0,
}

/** Returns undefined if a sum would no longer be exact. */
export function addCounts(before: UsageCounts, added: UsageCounts): UsageCounts | undefined {
  const sum = SUMMED.map((name) => [name, before[name] + added[name]] as const)
  return sum.every(([, count]) => Number.isSafeInteger(count))
    ? (Object.fromEntries(sum) as Record<(typeof SUMMED)[number], number>)
    : undefined
}

/** Adds up to the largest exact number, and says so if a sum would be larger. */
export function addUpTo(before: UsageCounts, added: UsageCounts): UsageCounts & { readonly overflow?: true } {
  const exact = addCounts(before, added)
  if (exact) return exact
  const sum = SUMMED.map((name) => [name, Math.min(before[name] + added[name], Number.MAX_SAFE_INTEGER)])
  return { ...(Object.fromEntries(sum) as Record<(typeof SUMMED)[number], number>), overflow: true }
}

/** Adds usage. Returns undefined if a sum would no longer be exact. */
export function addUsage(ledger: readonly Usage[], added: Usage): readonly Usage[] | undefined {
  const at = ledger.findIndex(({ source, model }) => source === added.source && model === added.model)
  const before = ledger[at]
  if (!before) return [...ledger, added]
  const sum = addCounts(before, added)
  return sum && ledger.with(at, { ...before, ...sum })
}
