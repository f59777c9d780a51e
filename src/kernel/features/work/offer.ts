// Offers a work item: checks its options, and writes it once for each key.

import { refuse } from '../../../model/errors.ts'
import type { Id } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf, quoted } from '../../../model/options.ts'
import { RESERVED_QUEUES, seriesOf, type WorkRow } from '../../../model/work.ts'
import { isUnmasked, storeOffered } from '../../content/json-or-blob.ts'
import { WriteTime } from '../../measuring/write-time.ts'
import { derivedId } from '../../naming/derived-id.ts'
import { maskKey, takeName } from '../../naming/names.ts'
import { type BackoffOptions, takeBackoff } from '../../time/backoff.ts'
import { storeNow } from '../../time/store-time.ts'
import type { Scope } from '../../wiring/scope.ts'
import { NOT_THERE, type Part, part, plan } from '../../writing/execute.ts'
import { type DueOptions, takeDue } from './due-time.ts'
import { localNodesOf } from './local-nodes.ts'
import { unhandledWatchOf } from './unhandled.ts'
import { type Offered, work } from './work-decider.ts'

export interface OfferOptions extends DueOptions {
  /** Idempotency key: with the same payload it returns the same item, also after it is done. Another payload is refused. */
  readonly key?: string
  /** Higher comes first. The default is 0. */
  readonly priority?: number
  /** Items of one group are claimed in the order of offering, one at a time. */
  readonly group?: string
  /** The number of attempts until the item is a dead letter. */
  readonly attempts?: number
  /** The delay before a retry: `'1s'`, the default, or `{ first, factor, most }`. */
  readonly backoff?: BackoffOptions
  /** `false` stores the payload without masking secrets. */
  readonly redact?: boolean
}

/** A work item. A completed item is gone from the queue, and its state is `done`. */
export interface WorkItem extends Omit<WorkRow, 'state' | 'series' | 'mark' | 'run' | 'payload'> {
  readonly id: Id<'work'>
  /** `done` and `cancelled` items are gone from the queue; their keys stay taken. */
  readonly state: WorkRow['state'] | 'done' | 'cancelled'
  /** The key was used before: this is the first item again. */
  readonly repeated: boolean
}

/** Checks the name of a queue that callers may use. */
export function takeQueue(scope: Scope, name: string): string {
  const wrong = () =>
    refuse('QUEUE_NAME_INVALID', { name: quoted(name).slice(0, 80), limit: limits.runNameChars, reserved: RESERVED_QUEUES.join(', ') })
  if (typeof name !== 'string' || RESERVED_QUEUES.some((prefix) => name.startsWith(prefix))) throw wrong()
  return takeName(scope, name, 'a queue')
}

export type TakenOffer = Omit<Offered, 'at' | 'payload' | 'queue'> & { readonly delayMs: number; readonly notBefore?: number }

/** Checks the options of an offer and fills in the defaults. */
export function takeOffer(scope: Scope, queue: string, options: OfferOptions | undefined): TakenOffer {
  const {
    key,
    delay,
    at,
    priority = 0,
    group,
    attempts = limits.workAttempts,
    backoff,
    redact: _,
    ...unknown
  } = optionsOf(options, 'offer')
  checkKnown(unknown, 'an item')
  if (!Number.isSafeInteger(priority) || Math.abs(priority) > limits.workPriority)
    throw invalidOption('priority', `an integer from -${limits.workPriority} to ${limits.workPriority}`, priority)
  if (!Number.isSafeInteger(attempts) || attempts < 1) throw invalidOption('attempts', 'an integer ≥ 1', attempts)
  const due = takeDue({ delay, at })
  const taken = group === undefined ? undefined : takeName(scope, group, 'a group')
  return {
    ...(key !== undefined && { key: maskKey(scope, key) }),
    priority,
    ...(taken !== undefined && { group: taken, series: seriesOf(queue, taken) }),
    attempts,
    backoff: takeBackoff(backoff),
    delayMs: 0,
    ...due,
  }
}

/** The part of a commit that offers an item to a queue. */
export const offerPart = (
  id: Id<'work'>,
  offered: Offered,
  about: Pick<Part<WorkRow>, 'session' | 'run' | 'cause' | 'seen'> = {},
): Part<WorkRow> => part(work, id, { verb: 'offer', ...offered }, { ...about, whole: isUnmasked(offered.payload) })

/** The id follows from the key, if there is one. The key is taken as long as the item exists. */
export const itemId = (scope: Scope, queue: string, key: string | undefined): Id<'work'> =>
  key === undefined ? scope.engine.newId<'work'>() : derivedId<'work'>(scope, `item/${queue}\n${key}`)

export async function offerItem(scope: Scope, queue: string, payload: unknown, options: OfferOptions | undefined): Promise<WorkItem> {
  const time = new WriteTime(scope.engine.environment.clock)
  const { delayMs, notBefore, ...taken } = takeOffer(scope, queue, options)
  const stored = await storeOffered(scope, payload, `an item of the queue '${queue}'`, optionsOf(options, 'offer').redact, time)
  const now = await storeNow(scope, delayMs > 0 || notBefore !== undefined)
  const at = notBefore ?? now + delayMs
  const id = itemId(scope, queue, taken.key)
  const offered = { ...taken, queue, at, payload: stored }
  const { key } = taken
  const done = await plan(scope, [offerPart(id, offered, key === undefined ? { seen: NOT_THERE } : {})], {
    ...(key !== undefined && { key, within: `offer/${queue}`, body: stored }),
    time,
  })
  localNodesOf(scope.engine).wake()
  if (at <= now) unhandledWatchOf(scope.engine).expect(scope, queue)
  const row = done.rows[0].body
  // The key was used before and the item is gone: its last event says how it ended.
  if (!row) return { id, queue, key, state: await endOf(scope, id), attempt: 0, strikes: 0, repeated: true }
  return toItem(id, row, done.receipts.length === 0 || done.repeated)
}

async function endOf({ engine, tenant }: Scope, id: Id<'work'>): Promise<'done' | 'cancelled'> {
  const { events } = await engine.backend.journal.page(tenant, {
    subject: id,
    from: Number.MAX_SAFE_INTEGER,
    backwards: true,
    limit: 1,
    bytes: limits.pageBytes,
  })
  return events[0]?.type === 'work.cancelled' ? 'cancelled' : 'done'
}

export function toItem(id: Id<'work'>, row: WorkRow, repeated = false): WorkItem {
  const { series: _, mark: __, run: ___, payload: ____, ...shown } = row
  return { ...shown, id, repeated }
}
