// Reads messages of a thread by index: the last ones, those before or after a message, those of an execution, or one branch.

import { refuse } from '../../../model/errors.ts'
import type { SessionId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, filterOf, invalidOption } from '../../../model/options.ts'
import { decodeCursor, encodeCursor } from '../../../model/order.ts'
import type { TableRow } from '../../../model/rows.ts'
import type { MessageRow, ThreadId } from '../../../model/thread.ts'
import { maskKey } from '../../naming/names.ts'
import { everyRow } from '../../reading/every-row.ts'
import { type ArrayPage, arrayPage } from '../../reading/list-rows.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { branchRows } from './branch.ts'
import { readMessage } from './linked-approvals.ts'
import { messageRowId } from './plan-messages.ts'
import type { AnyMessage, StoredMessage } from './stored-message.ts'
import { messageOf } from './stored-rows.ts'

export interface MessagesOptions {
  /** At most this many messages, from the end. The default is 50. */
  readonly last?: number
  /** At most this many messages, from the beginning, instead of `last`. */
  readonly first?: number
  /** Only messages before the one with this id. */
  readonly before?: string
  /** Only messages after the one with this id. */
  readonly after?: string
  /** Only the message with this id and its ancestors: one branch of the thread. */
  readonly branch?: string
  /** Only messages that this execution made. */
  readonly execution?: string
  /** The cursor of the page before: with `first` the messages that follow it, otherwise those before it. */
  readonly cursor?: string
}

export interface ThreadPlace {
  readonly session: SessionId
  readonly thread: ThreadId
}

/** A row that can be shown: neither removed nor erased. */
export type ShownRow = MessageRow & Required<Pick<MessageRow, 'content'>>

const LAST = 50

/** Messages in the order of the thread, oldest first. */
export async function listMessages(
  scope: Scope,
  place: ThreadPlace,
  options: MessagesOptions | undefined,
): Promise<ArrayPage<StoredMessage>> {
  const { rows, cursor } = await listMessageRows(scope, place, options)
  const messages = await Promise.all(rows.map(({ body }) => readMessage(scope, place.session, body.content)))
  return arrayPage(messages as readonly AnyMessage[] as readonly StoredMessage[], cursor)
}

interface Found {
  readonly born: number
  readonly body: ShownRow
}

interface FoundPage {
  readonly rows: readonly Found[]
  readonly cursor: string | undefined
}

async function listMessageRows(scope: Scope, place: ThreadPlace, options: MessagesOptions | undefined): Promise<FoundPage> {
  checkOpen(scope.engine)
  const { last, first, before, after, branch, execution, cursor, ...unknown } = filterOf(options, 'thread.messages', ['before', 'after'])
  checkKnown(unknown, 'messages')
  if (last !== undefined && first !== undefined) throw invalidOption('first', 'no number together with `last`', first)
  for (const [name, count] of Object.entries({ last, first }))
    if (count !== undefined && (!Number.isInteger(count) || count < 1 || count > limits.messagesAtOnce))
      throw invalidOption(name, `an integer from 1 to ${limits.messagesAtOnce}`, count)
  const wanted = first ?? last ?? LAST
  const backwards = first === undefined
  const at = cursor === undefined ? undefined : placeOf(cursor)
  const from = [after === undefined ? undefined : (await messageRow(scope, place, after)).born, backwards ? undefined : at]
  const below = [before === undefined ? undefined : (await messageRow(scope, place, before)).born, backwards ? at : undefined]
  const range = {
    ...(from.some(isPlace) && { from: Math.max(...from.filter(isPlace)) + 1 }),
    ...(below.some(isPlace) && { below: Math.min(...below.filter(isPlace)) }),
  }
  const isWanted = execution === undefined ? () => true : sameExecution(maskKey(scope, execution))
  const rows: Found[] = []
  // One more than wanted shows whether there are more.
  const source =
    branch !== undefined
      ? branchRows(scope, place, await messageRow(scope, place, branch), range)
      : everyRow(scope, 'messages', { ...indexOf(scope, place, execution), ...range, backwards, limit: wanted + 1 })
  for await (const stored of source) {
    const body = messageOf(stored)
    if (!isShown(body) || body.thread !== place.thread || !isWanted(body)) continue
    rows.push({ born: stored.born, body })
    // A branch is read from its leaf, so its first messages come last.
    if (rows.length > wanted && (backwards || branch === undefined)) break
  }
  const isMore = rows.length > wanted
  if (backwards) rows.splice(wanted)
  if (backwards || branch !== undefined) rows.reverse()
  rows.splice(wanted)
  const end = isMore ? (backwards ? rows[0] : rows.at(-1)) : undefined
  return { rows, cursor: end && encodeCursor([end.born]) }
}

const isPlace = (born: number | undefined): born is number => born !== undefined

/** The place of the message at which the page before ended. */
function placeOf(cursor: unknown): number {
  const [born] = typeof cursor === 'string' ? decodeCursor(cursor, 1) : []
  if (typeof born !== 'number') throw refuse('CURSOR_INVALID')
  return born
}

const sameExecution =
  (execution: string) =>
  (row: MessageRow): boolean =>
    row.execution === execution

const indexOf = (scope: Scope, { session, thread }: ThreadPlace, execution: string | undefined) =>
  execution === undefined
    ? { index: 'byThread', equals: [session, thread] }
    : { index: 'byExecution', equals: [session, maskKey(scope, execution)] }

export const isShown = (row: MessageRow): row is ShownRow => row.content !== undefined && !row.hidden

/** The row of a message of this thread, also of one that was removed. */
export async function messageRow(scope: Scope, { session, thread }: ThreadPlace, id: string): Promise<TableRow<'messages'>> {
  const key = maskKey(scope, id)
  const row = await scope.engine.backend.rows.get(scope.tenant, 'messages', messageRowId(scope, session, key))
  if (!row) throw refuse('MESSAGE_UNKNOWN', { thread, message: key })
  const found = messageOf(row).thread
  if (found !== thread) throw refuse('MESSAGE_ELSEWHERE', { thread, message: key, found })
  return row
}
