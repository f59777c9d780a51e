// A queue: callers offer items; workers claim each under a fence and settle it once.

import { refuse } from '../../../model/errors.ts'
import type { Id, TenantId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { checkFlag, checkKnown, filterOf, optionsOf, quoted } from '../../../model/options.ts'
import type { Backlog } from '../../../model/queries.ts'
import { decodeBody, type TableRow } from '../../../model/rows.ts'
import type { StandardSchemaV1 } from '../../../model/standard-schema.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'
import { WORK_STATES, type WorkState } from '../../../model/work.ts'
import { load } from '../../content/json-or-blob.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { checkLast } from '../../reading/list-rows.ts'
import { Bell } from '../../reading/read-events.ts'
import { storeNow } from '../../time/store-time.ts'
import { fitted } from '../../wiring/schema.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { isOutage } from '../../writing/commit-outcome.ts'
import { pause } from '../../writing/retry-conflicts.ts'
import type { LeaseHolder } from '../leases/lease-holder.ts'
import { cancel, find, type RedriveOptions, redrive } from './admin.ts'
import type { Claim } from './claim.ts'
import { claimItem, claimingOf, takeLease } from './claim-item.ts'
import { workHolder } from './holder.ts'
import { type OfferOptions, offerItem, takeQueue, toItem, type WorkItem } from './offer.ts'
import { schedulerOf } from './scheduler.ts'
import { orphanedClaims } from './tenant-feed.ts'
import { Worker } from './worker/worker.ts'
import type { QueueWorker, WorkerOptions, WorkHandler } from './worker/worker-options.ts'

export interface ClaimOptions {
  /** How long the claim lasts without a renewal. */
  readonly lease?: Duration
  /** Renews the claim by itself until it is settled. */
  readonly renew?: boolean
  /** Timeout of waiting for an item. By default the call does not wait. */
  readonly wait?: Duration
  readonly signal?: AbortSignal
}

/**
 * Why there is nothing to claim: the queue is empty; items are due later (`notDue`); other claims or groups stand in the way (`blocked`); another
 * claimant was quicker (`lostRace`).
 */
export type WhyEmpty =
  | { readonly claim?: undefined; readonly why: 'empty' | 'blocked' | 'lostRace' }
  | { readonly claim?: undefined; readonly why: 'notDue'; readonly at: number }

export type Tried<T> = { readonly claim: Claim<T>; readonly why?: undefined } | WhyEmpty

export interface WorkListOptions {
  readonly state?: WorkState
  /** Page size. The default is 50. */
  readonly last?: number
  readonly cursor?: string
}

export interface QueueOptions<S extends StandardSchemaV1> {
  /** The shape of the payloads that are offered here. Items from elsewhere, such as jobs and triggers, are not checked. */
  readonly payload: S
}

/** `Given` is what callers offer, if a schema makes something else of it. */
export interface Queue<T = unknown, Given = T> {
  readonly name: string
  offer(payload: Given, options?: OfferOptions): Promise<WorkItem>
  /** Undefined when there is nothing to claim; `tryClaim` says why. */
  claim(options?: ClaimOptions): Promise<Claim<T> | undefined>
  tryClaim(options?: Omit<ClaimOptions, 'wait'>): Promise<Tried<T>>
  /** Starts a worker that claims and settles items until it is closed. */
  work(handler: WorkHandler<T>, options?: WorkerOptions): QueueWorker
  get(id: string): Promise<(WorkItem & { readonly payload: T }) | undefined>
  /** The worker that holds the claim; undefined for an unclaimed item. */
  holder(id: string): Promise<LeaseHolder | undefined>
  /** Lists items: with a `state` in the order of claiming, otherwise by due time. */
  list(options?: WorkListOptions): Promise<{ readonly items: readonly WorkItem[]; readonly cursor?: string }>
  /** Removes the item from the queue. A worker that holds it loses its claim. */
  cancel(id: string, options?: { readonly reason?: string }): Promise<WorkItem>
  /** Offers dead letters again: one by id, all, or at most `most`. */
  redrive(which?: string | RedriveOptions): Promise<readonly WorkItem[]>
  stats(): Promise<Backlog>
}

// Enough rows to find one that no other claimant is taking right now.
const WINDOW = 16
const PAGE = 50

export function queueOf<T>(scope: Scope, given: string, only: TenantId | undefined, shape?: StandardSchemaV1): Queue<T> {
  const name = takeQueue(scope, given)
  return {
    name,
    offer: async (payload, options) => {
      checkOpen(scope.engine)
      const fit = shape ? await fitted(scope, shape, payload, `payload for queue '${name}'`) : payload
      return offerItem(scope, name, fit, options)
    },
    claim: (options) => claimNext<T>(scope, name, options),
    tryClaim: (options) => tryClaim<T>(scope, name, options),
    work: (handler, options) => new Worker<T>(scope, name, handler, options, only),
    get: async (id) => {
      const found = await find(scope, name, id)
      return found && { ...toItem(found.id as Id<'work'>, found.row), payload: (await load(scope, found.row.payload)) as T }
    },
    holder: async (id) => {
      const found = await find(scope, name, id)
      return found && workHolder(scope, found.id as Id<'work'>, found.row)
    },
    list: (options) => listWork(scope, name, options),
    cancel: (id, options) => cancel(scope, name, id, options),
    redrive: (which) => redrive(scope, name, which),
    stats: async () => {
      checkOpen(scope.engine)
      const found = (await scope.engine.backend.queries.backlog(scope.tenant)).find(({ queue }) => queue === name)
      return found ?? { queue: name, ready: 0, delayed: 0, claimed: 0, asleep: 0, dead: 0 }
    },
  }
}

async function claimNext<T>(scope: Scope, queue: string, options?: ClaimOptions): Promise<Claim<T> | undefined> {
  const { wait, signal, ...rest } = optionsOf(options, 'claim')
  const until = wait === undefined ? 0 : scope.engine.environment.clock.monotonic() + milliseconds(wait)
  if (wait === undefined) return claimNow<T>(scope, queue, { ...rest, ...(signal && { signal }) })
  const bell = new Bell(scope, [signal, scope.engine.closing])
  try {
    for (;;) {
      bell.reset()
      let due: number = limits.lookEveryMs
      let outage: unknown
      try {
        const tried = await tryClaim<T>(scope, queue, { ...rest, ...(signal && { signal }) })
        if (tried.claim) return tried.claim
        if (tried.why === 'notDue') due = tried.at - (await storeNow(scope))
        if (tried.why === 'lostRace') due = LOST_RACE_MS
      } catch (error) {
        if (!isOutage(error)) throw error
        outage = error
      }
      const left = until - scope.engine.environment.clock.monotonic()
      if (left > 0) await bell.rung(Math.min(left, Math.max(due, 1)))
      else if (outage) throw outage
      else return undefined
    }
  } finally {
    bell.close()
  }
}

/** Undefined means that nothing is claimable. A lost race is tried again: other claimants made progress, and items may be left. */
async function claimNow<T>(scope: Scope, queue: string, options: Omit<ClaimOptions, 'wait'>): Promise<Claim<T> | undefined> {
  for (let attempt = 1; ; attempt++) {
    const tried = await tryClaim<T>(scope, queue, options)
    if (tried.claim || tried.why !== 'lostRace') return tried.claim
    if (attempt === LOST_RACES) throw refuse('CONFLICT', { table: 'work', id: queue, tries: attempt })
    await pause(scope, attempt)
  }
}

const LOST_RACES = 100
// How long a claimant that waits leaves others alone after a lost race.
const LOST_RACE_MS = 5

async function tryClaim<T>(scope: Scope, queue: string, options?: Omit<ClaimOptions, 'wait'>): Promise<Tried<T>> {
  checkOpen(scope.engine)
  const { lease, renew = false, signal, ...unknown } = optionsOf(options, 'claim')
  checkKnown(unknown, 'a claim')
  checkFlag('renew', renew)
  const leaseMs = takeLease(scope, lease)
  schedulerOf(scope.engine).start()
  for (;;) {
    stopIfAsked(scope, signal)
    const asked = scope.engine.environment.clock.monotonic()
    const { now, rows, next } = await scope.engine.backend.queries.ready(scope.tenant, queue, WINDOW + claimingOf(scope.engine).size)
    const found = rows.length > 0 ? rows : await orphanedClaims(scope, queue)
    let buried = false
    const left = found.filter(({ id }) => !claimingOf(scope.engine).has(`${scope.tenant}/${id}`))
    // Begins with the first row. After a lost race it picks at random, or both claimants would collide again on the next row.
    for (let lost = false; left.length > 0; ) {
      const [row] = left.splice(lost ? anyAlike(scope, left) : 0, 1) as [TableRow<'work'>]
      const claim = await claimAlone(scope, row.id, () => claimItem<T>(scope, row, { now, asked }, leaseMs, renew))
      if (claim && claim !== 'buried') return { claim }
      lost = !claim
      buried ||= claim === 'buried'
    }
    // An item of the same group behind a buried one can be claimed now.
    if (!buried) return found.length > 0 ? { why: 'lostRace' } : whyNot(scope, queue, now, next)
  }
}

/** Marks the item as being claimed, so that no other caller in this process tries it too. */
async function claimAlone<R>({ engine, tenant }: Scope, id: string, claim: () => Promise<R>): Promise<R> {
  const key = `${tenant}/${id}`
  claimingOf(engine).add(key)
  try {
    return await claim()
  } finally {
    claimingOf(engine).delete(key)
  }
}

/** The index of a random row with the priority of the first. */
function anyAlike({ engine }: Scope, rows: readonly TableRow<'work'>[]): number {
  const priorities = rows.map((row) => decodeBody(row.body, row).priority)
  const alike = priorities.filter((priority) => priority === priorities[0]).length
  return (engine.environment.entropy.bytes(1)[0] as number) % alike
}

async function whyNot(scope: Scope, queue: string, now: number, next: number | undefined): Promise<WhyEmpty> {
  // A due item that cannot be claimed is held, or waits for another item of its group.
  const { rows: held } = await scope.engine.backend.rows.list(scope.tenant, 'work', {
    index: 'byDue',
    equals: [queue],
    from: 0,
    below: now + 1,
    limit: 1,
  })
  const { rows: claimed } = await scope.engine.backend.rows.list(scope.tenant, 'work', {
    index: 'byReady',
    equals: [queue, 'claimed'],
    limit: 1,
  })
  if (held.length > 0 || claimed.length > 0) return { why: 'blocked' }
  return next === undefined ? { why: 'empty' } : { why: 'notDue', at: next }
}

export async function listWork(
  scope: Scope,
  queue: string,
  options?: WorkListOptions,
): Promise<{ readonly items: readonly WorkItem[]; readonly cursor?: string }> {
  checkOpen(scope.engine)
  const { state, last = PAGE, cursor, ...unknown } = filterOf(options, 'queue.list')
  checkKnown(unknown, 'a list of items')
  checkLast(last, 'items')
  if (state !== undefined && !WORK_STATES.includes(state)) throw refuse('RANGE_INVALID', { why: `unknown item state '${quoted(state)}'` })
  const page = await scope.engine.backend.rows.list(scope.tenant, 'work', {
    index: state === undefined ? 'byDue' : 'byReady',
    equals: state === undefined ? [queue] : [queue, state],
    limit: last,
    ...(cursor !== undefined && { cursor }),
  })
  return {
    items: page.rows.map((row) => toItem(row.id as Id<'work'>, decodeBody(row.body, row))),
    ...(page.cursor !== undefined && { cursor: page.cursor }),
  }
}
