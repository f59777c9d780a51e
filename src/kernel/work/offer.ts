// Offering an item: checked at the door, written once for each key, found by its queue.

import { refuse } from '../../model/errors.ts'
import type { Id } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../model/options.ts'
import { type Duration, milliseconds } from '../../model/time.ts'
import { type Backoff, RESERVED_QUEUES, seriesOf, type WorkRow } from '../../model/work.ts'
import { derivedId } from '../derived-id.ts'
import { NOT_THERE, type Part, part, plan } from '../execute.ts'
import { store } from '../json-or-blob.ts'
import { maskKey, takeName } from '../names.ts'
import type { Scope } from '../scope.ts'
import { storeNow } from '../store-time.ts'
import { localNodesOf } from './local-nodes.ts'
import { type Offered, work } from './work-decider.ts'

export interface OfferOptions {
  /** The same key and the same payload: the same item, also after it is done. Another payload with it is refused. */
  readonly key?: string
  /** Not before so long from now. */
  readonly delay?: Duration
  /** Not before then. */
  readonly at?: Date | number
  /** Higher comes first; 0 unless said. */
  readonly priority?: number
  /** Items of one group come in the order they were offered, one at a time. */
  readonly group?: string
  /** How often it may be tried. */
  readonly attempts?: number
  /** How long it rests after a failure; each time twice as long. */
  readonly backoff?: Duration | { readonly first: Duration; readonly factor?: number; readonly most?: Duration }
}

/** An item as people see it. What is done is gone from the queue, and its state is `done`. */
export interface WorkItem extends Omit<WorkRow, 'state' | 'series' | 'mark' | 'run' | 'payload'> {
  readonly id: Id<'work'>
  readonly state: WorkRow['state'] | 'done'
  /** It was there before, under its key. */
  readonly repeated: boolean
}

/** A queue that people may use. */
export function takeQueue(scope: Scope, name: string): string {
  const wrong = () =>
    refuse('QUEUE_NAME_INVALID', { name: String(name).slice(0, 80), limit: limits.runNameChars, reserved: RESERVED_QUEUES.join(', ') })
  if (typeof name !== 'string' || RESERVED_QUEUES.some((prefix) => name.startsWith(prefix))) throw wrong()
  return takeName(scope, name, 'a queue')
}

export type TakenOffer = Omit<Offered, 'at' | 'payload' | 'queue'> & { readonly delayMs: number; readonly notBefore?: number }

/** Checked, and with what goes without saying. */
export function takeOffer(scope: Scope, queue: string, options: OfferOptions | undefined): TakenOffer {
  const { key, delay, at, priority = 0, group, attempts = limits.workAttempts, backoff, ...unknown } = optionsOf(options, 'offer')
  checkKnown(unknown, 'an item')
  if (!Number.isSafeInteger(priority) || Math.abs(priority) > limits.workPriority)
    throw invalidOption('priority', `an integer from -${limits.workPriority} to ${limits.workPriority}`, priority)
  if (!Number.isSafeInteger(attempts) || attempts < 1) throw invalidOption('attempts', 'an integer ≥ 1', attempts)
  if (delay !== undefined && at !== undefined) throw refuse('OPTION_INVALID', { option: 'at', why: 'pass delay or at, not both' })
  const notBefore = at instanceof Date ? at.getTime() : at
  if (notBefore !== undefined && (typeof notBefore !== 'number' || !Number.isSafeInteger(notBefore)))
    throw invalidOption('at', 'a Date or Unix milliseconds', at)
  const taken = group === undefined ? undefined : takeName(scope, group, 'a group')
  return {
    ...(key !== undefined && { key: maskKey(scope, key) }),
    priority,
    ...(taken !== undefined && { group: taken, series: seriesOf(queue, taken) }),
    attempts,
    backoff: takeBackoff(backoff),
    delayMs: delay === undefined ? 0 : milliseconds(delay),
    ...(notBefore !== undefined && { notBefore }),
  }
}

export function takeBackoff(backoff: OfferOptions['backoff'] = limits.workBackoffMs): Backoff {
  const {
    first,
    factor = 2,
    most = limits.workBackoffMostMs,
    ...unknown
  } = typeof backoff === 'object' ? optionsOf(backoff, 'backoff') : { first: backoff }
  checkKnown(unknown, 'a backoff')
  if (typeof factor !== 'number' || !(factor >= 1) || factor > 100) throw invalidOption('backoff.factor', 'a number from 1 to 100', factor)
  return { firstMs: milliseconds(first), factor, mostMs: milliseconds(most) }
}

/** The part of a commit that offers an item of a queue. Used by everything that happens later. */
export const offerPart = (
  id: Id<'work'>,
  offered: Offered,
  about: Pick<Part<WorkRow>, 'session' | 'run' | 'cause' | 'seen'> = {},
): Part<WorkRow> => part(work, id, { verb: 'offer', ...offered }, about)

/** Where a key is given, the id follows from it: as long as the item is there, the key is its own. */
export const itemId = (scope: Scope, queue: string, key: string | undefined): Id<'work'> =>
  key === undefined ? scope.engine.newId<'work'>() : derivedId<'work'>(scope, `item/${queue}\n${key}`)

export async function offerItem(scope: Scope, queue: string, payload: unknown, options: OfferOptions | undefined): Promise<WorkItem> {
  const { delayMs, notBefore, ...taken } = takeOffer(scope, queue, options)
  const stored = await store(scope, payload, { of: 'the payload' })
  const now = await storeNow(scope, delayMs > 0 || notBefore !== undefined)
  const at = notBefore ?? now + delayMs
  const id = itemId(scope, queue, taken.key)
  const offered = { ...taken, queue, at, payload: stored }
  const { key } = taken
  const done = await plan(scope, [offerPart(id, offered, key === undefined ? { seen: NOT_THERE } : {})], {
    ...(key !== undefined && { key, within: `offer/${queue}`, body: stored }),
  })
  localNodesOf(scope.engine).wake()
  const row = done.rows[0].body
  // A key that was used, and an item that is not there any more: it is done.
  if (!row) return { id, queue, key, state: 'done', attempt: 0, strikes: 0, repeated: true }
  return toItem(id, row, done.receipts.length === 0 || done.repeated)
}

export function toItem(id: Id<'work'>, row: WorkRow, repeated = false): WorkItem {
  const { series: _, mark: __, run: ___, payload: ____, ...shown } = row
  return { ...shown, id, repeated }
}
