// `store.memory.recall`: asks every leg, fuses their candidates, and says why each item was found.

import { InkError } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'
import type { MemoryRow } from '../../../model/memory.ts'
import { checkKnown, invalidOption } from '../../../model/options.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { arrayPage } from '../../reading/list-rows.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { fuse, type Hit } from './fuse.ts'
import { isExpired, isReplaced, isTrue, type MemoryFilter, passes, takeFilter } from './item-filter.ts'
import { type Time, takeQuestion, takeTime } from './item-options.ts'
import type { Found, Leg, LegName, Question } from './legs.ts'
import { type RankingWeights, takeWeights } from './ranking.ts'
import { storeNow } from './store-now.ts'
import { vectorsLeg } from './vectors-leg.ts'
import { wordsLeg } from './words-leg.ts'

export interface RecallOptions extends MemoryFilter {
  /** 8 by default. */
  readonly limit?: number
  /** Only hits with at least this score. */
  readonly minScore?: number
  /** Items as they were true at this time. The default is now. */
  readonly at?: Time
  /** Also items that another one replaced, or that are not true at that time. With `at`, replaced items are found unless this is false. */
  readonly superseded?: boolean
  readonly weights?: Partial<RankingWeights>
  readonly signal?: AbortSignal
}

/** Hits, best first. The list also says which legs were used, and which could not be. */
export interface Hits extends ReadonlyArray<Hit> {
  readonly items: readonly Hit[]
  readonly legs: readonly LegName[]
  /** Why a leg did not do its work. The hits are those of the other legs. */
  readonly degraded?: string
}

/** Every leg of a recall. A leg that fails is named in `degraded`; the others answer. */
const LEGS: readonly Leg[] = [wordsLeg, vectorsLeg]

const LIMIT = 8

/** The caller or the store gave up, so no leg answers. */
const ENDS: ReadonlySet<string> = new Set(['ABORTED', 'STORE_CLOSED'])

/** Checks a question and its options, before anything is read. */
export function takeRecall(scope: Scope, text: string, options: RecallOptions | undefined) {
  checkOpen(scope.engine)
  const [filter, { limit = LIMIT, minScore = 0, at, superseded, weights, signal, ...unknown }] = takeFilter<RecallOptions>(
    options,
    'memory.recall',
    ['minScore', 'at', 'superseded', 'weights'],
  )
  checkKnown(unknown, 'memory.recall')
  const asked = takeQuestion(text)
  if (!Number.isInteger(limit) || limit < 1 || limit > limits.recallHits)
    throw invalidOption('limit', `an integer from 1 to ${limits.recallHits}`, limit)
  if (typeof minScore !== 'number' || Number.isNaN(minScore)) throw invalidOption('minScore', 'a number', minScore)
  if (superseded !== undefined && typeof superseded !== 'boolean') throw invalidOption('superseded', 'true or false', superseded)
  const own = scope.engine.options.memory?.weights
  const taken = takeWeights(weights, takeWeights(own))
  const hashVotes = (weights?.vectors ?? own?.vectors ?? 0) > 0
  const time = at === undefined ? undefined : takeTime('at', at)
  // At another time than now, an item that was replaced later was true.
  return {
    filter,
    asked,
    limit,
    minScore,
    replaced: superseded ?? time !== undefined,
    untrue: superseded ?? false,
    taken,
    hashVotes,
    time,
    signal,
  }
}

export async function recall(scope: Scope, text: string, options: RecallOptions | undefined): Promise<Hits> {
  const { filter, asked, limit, minScore, replaced, untrue, taken, hashVotes, time, signal } = takeRecall(scope, text, options)
  stopIfAsked(scope, signal)
  const now = time === undefined ? storeNow(scope) : Promise.resolve(time)
  const question = now.then(
    (now): Question => ({
      filter,
      now,
      replaced,
      untrue,
      hashVotes,
      limit,
      allows: (row) =>
        isThere(row) && passes(row, filter) && !isExpired(row, now) && (replaced || !isReplaced(row)) && (untrue || isTrue(row, now)),
      ...(signal && { signal }),
    }),
  )
  const found = await Promise.all(LEGS.map((leg) => ask(scope, leg, asked, question)))
  const used = found.filter(({ absent }) => !absent)
  const degraded = found.flatMap((leg) => leg.degraded ?? []).join('; ')
  const hits = fuse(used, taken, await now, limit).filter(({ score }) => score >= minScore)
  return toHits(
    hits,
    used.map(({ name }) => name),
    degraded,
  )
}

const isThere = (row: MemoryRow): boolean => row.state === 'active' && row.text !== undefined

async function ask(scope: Scope, leg: Leg, text: string, question: Promise<Question>): Promise<Found & { readonly name: Leg['name'] }> {
  if (leg.name === 'words') return { ...(await leg.find(scope, text, question)), name: leg.name }
  try {
    return { ...(await leg.find(scope, text, question)), name: leg.name }
  } catch (error) {
    if (error instanceof InkError && ENDS.has(error.code)) throw error
    return { name: leg.name, candidates: [], absent: true, degraded: error instanceof Error ? error.message : String(error) }
  }
}

/** The names are not enumerable, so that the list compares and prints as a list of hits. */
export function toHits(hits: readonly Hit[], legs: readonly Leg['name'][], degraded: string | undefined): Hits {
  return Object.defineProperties(arrayPage(hits), {
    legs: { value: legs },
    ...(degraded && { degraded: { value: degraded } }),
  }) as unknown as Hits
}
