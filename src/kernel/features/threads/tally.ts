// The number of messages of a thread. Now and then a message tells how many were there before it, so that counting reads few rows of a long
// thread, and adding a message changes no other row. Rows of messages stay in their thread: one that is hidden or erased counts too.

import type { TableRow } from '../../../model/rows.ts'
import type { MessageTally } from '../../../model/thread.ts'
import { everyPage } from '../../reading/every-row.ts'
import type { Scope } from '../../wiring/scope.ts'
import type { DoneRow } from '../../writing/execute.ts'
import type { ThreadPlace } from './list-messages.ts'
import { messageOf } from './stored-rows.ts'
import { threadsSeen } from './thread-memory.ts'

/** A node writes a tally with every so many messages of a thread. */
const EVERY = 16

export interface Counted {
  readonly messages: number
  /** The place of the newest message; 0 if there is none. */
  readonly at: number
  /** The newest rows, as far as they were read. */
  readonly rows: readonly TableRow<'messages'>[]
}

/** Reads back to the newest tally, and to the place that it speaks of. */
export async function countMessages(scope: Scope, { session, thread }: ThreadPlace): Promise<Counted> {
  const rows: TableRow<'messages'>[] = []
  const range = { index: 'byThread', equals: [session, thread], backwards: true, limit: EVERY + 1 }
  let best: MessageTally = { messages: 0, at: 0 }
  let counted = 0
  for await (const page of everyPage(scope, 'messages', range)) {
    rows.push(...page)
    for (const row of page) {
      if (row.born <= best.at) return { messages: best.messages + counted, at: rows[0]?.born ?? 0, rows }
      counted++
      const { tally } = messageOf(row)
      // The message of a fork tells its own place: nobody else wrote to the thread.
      if (tally?.at === 0) return { messages: tally.messages + counted, at: rows[0]?.born ?? 0, rows }
      if (tally && tally.at > best.at) best = tally
    }
  }
  return { messages: best.messages + counted, at: rows[0]?.born ?? 0, rows }
}

/** The tally of the next message, if it is time for one; a new thread needs none. */
export async function tallyDue(scope: Scope, place: ThreadPlace, isNew: boolean): Promise<MessageTally | undefined> {
  const since = threadsSeen(scope.engine).sinceTally(scope.tenant, place.thread)
  if (isNew || (since !== undefined && since < EVERY)) return undefined
  const { messages, at } = await countMessages(scope, place)
  return at === 0 ? undefined : { messages, at }
}

/** A tally whose message was there before is not stored, so the next message tells it. */
export function noteTally(scope: Scope, { thread }: ThreadPlace, tally: MessageTally | undefined, rows: readonly DoneRow[]): void {
  const memory = threadsSeen(scope.engine)
  const stored = (rows[0]?.body as { readonly tally?: MessageTally } | undefined)?.tally
  const since = tally && stored?.at === tally.at ? 0 : (memory.sinceTally(scope.tenant, thread) ?? (tally ? EVERY : 0))
  memory.setSinceTally(scope.tenant, thread, since + rows.length)
}
