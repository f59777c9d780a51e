// A queue by its name: what is offered is claimed by somebody, under a fence, and settled once.

import { InkError, refuse } from '../../model/errors.ts'
import type { Id, TenantId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { checkKnown, optionsOf } from '../../model/options.ts'
import type { Backlog } from '../../model/queries.ts'
import { type Body, decodeBody, type StoredRow } from '../../model/rows.ts'
import { type Duration, milliseconds } from '../../model/time.ts'
import { WORK_STATES, type WorkRow, type WorkState } from '../../model/work.ts'
import { plan } from '../execute.ts'
import { load } from '../json-or-blob.ts'
import { checkLast } from '../list.ts'
import { Bell, stopIfAsked } from '../read.ts'
import { checkOpen, type Scope } from '../scope.ts'
import { storeNow } from '../store-time.ts'
import { cancel, find, type RedriveOptions, redrive } from './admin.ts'
import { type Claim, type HeldClaim, inHand, type Seen, taking } from './claim.ts'
import { type WorkHolder, workHolder } from './holder.ts'
import { type OfferOptions, offerItem, takeQueue, toItem, type WorkItem } from './offer.ts'
import { orphans } from './orphans.ts'
import { bury, isPoisoned } from './poison.ts'
import { Worker } from './worker/worker.ts'
import type { QueueWorker, WorkerOptions, WorkHandler } from './worker/worker-options.ts'

export interface ClaimOptions {
  /** How long it is held without a renewal. */
  readonly lease?: Duration
  /** Held as long as this program has it, renewed by itself. */
  readonly renew?: boolean
  /** How long to wait for something to claim; without it, not at all. */
  readonly wait?: Duration
  readonly signal?: AbortSignal
}

/** Why there is nothing to claim: nothing is there, it is due later, others hold it or come first, or somebody else was quicker. */
export type WhyEmpty =
  | { readonly claim?: undefined; readonly why: 'empty' | 'blocked' | 'lostRace' }
  | { readonly claim?: undefined; readonly why: 'notDue'; readonly at: number }

export type Tried<T> = { readonly claim: Claim<T>; readonly why?: undefined } | WhyEmpty

export interface WorkListOptions {
  readonly state?: WorkState
  /** At most so many; the default is 50. */
  readonly last?: number
  readonly cursor?: string
}

export interface Queue<T = unknown> {
  readonly name: string
  offer(payload: T, options?: OfferOptions): Promise<WorkItem>
  /** Undefined where there is nothing to claim; `tryClaim` says why. */
  claim(options?: ClaimOptions): Promise<Claim<T> | undefined>
  tryClaim(options?: Omit<ClaimOptions, 'wait'>): Promise<Tried<T>>
  /** Claims and settles, so many at a time, until it is closed. */
  work(handler: WorkHandler<T>, options?: WorkerOptions): QueueWorker
  get(id: string): Promise<(WorkItem & { readonly payload: T }) | undefined>
  /** Who has it in hand; undefined where nobody has. */
  holder(id: string): Promise<WorkHolder | undefined>
  /** What is there: with a state in the order it will be taken, without one by its time. */
  list(options?: WorkListOptions): Promise<{ readonly items: readonly WorkItem[]; readonly cursor?: string }>
  /** Takes it out of the queue. Whoever holds it has lost it. */
  cancel(id: string, options?: { readonly reason?: string }): Promise<WorkItem>
  /** Offers a dead item anew, or all of them, or at most so many at a time. */
  redrive(which?: string | RedriveOptions): Promise<readonly WorkItem[]>
  stats(): Promise<Backlog>
}

// Enough to find one that nobody else is taking right now.
const WINDOW = 16
const PAGE = 50

export function queueOf<T>(scope: Scope, given: string, only: TenantId | undefined): Queue<T> {
  const name = takeQueue(scope, given)
  return {
    name,
    offer: async (payload, options) => {
      checkOpen(scope.engine)
      return offerItem(scope, name, payload, options)
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
  if (wait === undefined) return (await tryClaim<T>(scope, queue, { ...rest, ...(signal && { signal }) })).claim
  const bell = new Bell(scope, [signal, scope.engine.closing])
  try {
    for (;;) {
      bell.reset()
      const tried = await tryClaim<T>(scope, queue, { ...rest, ...(signal && { signal }) })
      const left = until - scope.engine.environment.clock.monotonic()
      if (tried.claim || left <= 0) return tried.claim
      const due = tried.why === 'notDue' ? tried.at - (await storeNow(scope)) : limits.lookEveryMs
      await bell.rung(Math.min(left, Math.max(due, 1)))
    }
  } finally {
    bell.close()
  }
}

async function tryClaim<T>(scope: Scope, queue: string, options?: Omit<ClaimOptions, 'wait'>): Promise<Tried<T>> {
  checkOpen(scope.engine)
  const { lease, renew = false, signal, ...unknown } = optionsOf(options, 'claim')
  checkKnown(unknown, 'a claim')
  const leaseMs = takeLease(scope, lease)
  scope.engine.scheduler.start()
  for (;;) {
    stopIfAsked(scope, signal)
    const asked = scope.engine.environment.clock.monotonic()
    const { now, rows, next } = await scope.engine.backend.queries.ready(scope.tenant, queue, WINDOW)
    const found = rows.length > 0 ? rows : await orphans(scope, queue)
    let buried = false
    const left = found.filter(({ id }) => !scope.engine.holds.isTaking(scope.tenant, id))
    // The first, and where somebody was quicker any of those behind it: whoever comes from the same end would only meet again.
    for (let lost = false; left.length > 0; ) {
      const [row] = left.splice(lost ? anyAlike(scope, left) : 0, 1) as [StoredRow]
      const claim = await scope.engine.holds.taking(scope.tenant, row.id, () => claimAs<T>(scope, row, { now, asked }, leaseMs, renew))
      if (claim && claim !== 'buried') return { claim }
      lost = !claim
      buried ||= claim === 'buried'
    }
    // What stood behind the buried can be claimed now.
    if (!buried) return found.length > 0 ? { why: 'lostRace' } : whyNot(scope, queue, now, next)
  }
}

/** Nothing is put before what is more urgent. */
function anyAlike({ engine }: Scope, rows: readonly StoredRow[]): number {
  const priorities = rows.map(({ body }) => decodeBody<WorkRow & Body>(body).priority)
  const alike = priorities.filter((priority) => priority === priorities[0]).length
  return (engine.environment.entropy.bytes(1)[0] as number) % alike
}

async function whyNot(scope: Scope, queue: string, now: number, next: number | undefined): Promise<WhyEmpty> {
  // Something that is due, and cannot be claimed: it is held, or stands behind another of its group.
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

export function takeLease(scope: Scope, lease: Duration | undefined): number {
  const ms = lease === undefined ? scope.engine.keeper.ttlMs : milliseconds(lease)
  if (ms < 1) throw refuse('OPTION_INVALID', { option: 'lease', why: 'a claim is held for at least a millisecond' })
  return ms
}

/** Undefined where somebody else was quicker; buried where nobody is to have it any more. */
export async function claimAs<T>(
  scope: Scope,
  row: StoredRow,
  seen: Seen,
  leaseMs: number,
  renew: boolean,
): Promise<HeldClaim<T> | 'buried' | undefined> {
  try {
    const item = decodeBody<WorkRow & Body>(row.body)
    if (isPoisoned(item)) {
      await bury(scope, row)
      return 'buried'
    }
    const { parts, guards, asked } = await taking(scope, row, seen, leaseMs)
    const { rows } = await plan(scope, parts, { guards })
    const dueAt = item.state === 'ready' ? item.at : undefined
    return await inHand<T>(scope, rows[0] as NonNullable<(typeof rows)[0]>, { id: row.id, dueAt, leaseMs, asked, renew })
  } catch (error) {
    if (error instanceof InkError && error.code === 'CONFLICT') return undefined
    throw error
  }
}

export async function listWork(
  scope: Scope,
  queue: string,
  options?: WorkListOptions,
): Promise<{ readonly items: readonly WorkItem[]; readonly cursor?: string }> {
  checkOpen(scope.engine)
  const { state, last = PAGE, cursor, ...unknown } = optionsOf(options, 'list')
  checkKnown(unknown, 'a list of items')
  checkLast(last, 'items')
  if (state !== undefined && !WORK_STATES.includes(state)) throw refuse('RANGE_INVALID', { why: `there is no item state '${state}'` })
  const page = await scope.engine.backend.rows.list(scope.tenant, 'work', {
    index: state === undefined ? 'byDue' : 'byReady',
    equals: state === undefined ? [queue] : [queue, state],
    limit: last,
    ...(cursor !== undefined && { cursor }),
  })
  return {
    items: page.rows.map((row) => toItem(row.id as Id<'work'>, decodeBody<WorkRow & Body>(row.body))),
    ...(page.cursor !== undefined && { cursor: page.cursor }),
  }
}
