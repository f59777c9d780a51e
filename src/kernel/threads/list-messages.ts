// Reads messages of a thread by index: the last ones, those before or after a message, those of an execution, or one branch.

import { refuse } from '../../model/errors.ts'
import type { SessionId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { checkKnown, filterOf, invalidOption } from '../../model/options.ts'
import type { TableRow } from '../../model/rows.ts'
import type { MessageRow, ThreadId } from '../../model/thread.ts'
import { everyRow } from '../every-row.ts'
import { type ArrayPage, arrayPage } from '../list.ts'
import { maskKey } from '../names.ts'
import { checkOpen, type Scope } from '../scope.ts'
import { branchRows } from './branch.ts'
import type { StoredMessage } from './check-message.ts'
import { readContent } from './content.ts'
import { messageRowId } from './plan-messages.ts'
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
  const rows = await listMessageRows(scope, place, options)
  return arrayPage(await Promise.all(rows.map(({ content }) => readContent(scope, content))))
}

export async function listMessageRows(
  scope: Scope,
  place: ThreadPlace,
  options: MessagesOptions | undefined,
): Promise<readonly ShownRow[]> {
  checkOpen(scope.engine)
  const { last, first, before, after, branch, execution, ...unknown } = filterOf(options, 'thread.messages', ['before', 'after'])
  checkKnown(unknown, 'messages')
  if (last !== undefined && first !== undefined) throw invalidOption('first', 'no number together with `last`', first)
  for (const [name, count] of Object.entries({ last, first }))
    if (count !== undefined && (!Number.isInteger(count) || count < 1 || count > limits.messagesAtOnce))
      throw invalidOption(name, `an integer from 1 to ${limits.messagesAtOnce}`, count)
  const range = {
    ...(after !== undefined && { from: (await messageRow(scope, place, after)).born + 1 }),
    ...(before !== undefined && { below: (await messageRow(scope, place, before)).born }),
  }
  const wanted = first ?? last ?? LAST
  const backwards = first === undefined
  const isWanted = execution === undefined ? () => true : sameExecution(maskKey(scope, execution))
  const rows: ShownRow[] = []
  const source =
    branch !== undefined
      ? branchRows(scope, place, await messageRow(scope, place, branch), range)
      : everyRow(scope, 'messages', { ...indexOf(scope, place, execution), ...range, backwards, limit: wanted })
  for await (const stored of source) {
    const row = messageOf(stored)
    if (!isShown(row) || row.thread !== place.thread || !isWanted(row)) continue
    rows.push(row)
    // A branch is read from its leaf, so its first messages come last.
    if (rows.length === wanted && (backwards || branch === undefined)) break
  }
  if (backwards || branch !== undefined) rows.reverse()
  return rows.slice(0, wanted)
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
