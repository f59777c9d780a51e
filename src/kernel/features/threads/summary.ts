// Summary of the default thread for lists of sessions: its first message, its newest ones, their number, and when it last changed.

import type { SessionRow } from '../../../model/session.ts'
import type { MessageRow } from '../../../model/thread.ts'
import type { ToldSummary } from '../../feature.ts'
import { type MessageSummary, summaryOf } from '../../reading/message-text.ts'
import type { Scope } from '../../wiring/scope.ts'
import { readContent } from './content.ts'
import { isShown, type ThreadPlace } from './list-messages.ts'
import { messageOf } from './stored-rows.ts'
import { countMessages } from './tally.ts'
import { mainThreadId } from './thread-memory.ts'

/** The last answer and the question before it are nearly always among these. */
const NEWEST = 4

export async function threadSummary(scope: Scope, { id }: SessionRow): Promise<ToldSummary> {
  const place = { session: id, thread: mainThreadId(scope, id) }
  const { messages, rows } = await countMessages(scope, place)
  if (rows.length === 0) return {}
  const newest = rows.slice(0, NEWEST).map(messageOf)
  const said = await Promise.all(newest.map((row) => told(scope, row)))
  const [begun] = rows.length === messages ? rows.slice(-1) : (await firstRow(scope, place)).rows
  const first = begun && (await told(scope, messageOf(begun)))
  const preview = said.find((one) => one?.text)?.text
  const intent = said.find((one) => one?.role === 'user' && one.text)?.text
  return {
    ...(first?.role === 'user' && first.text && { firstMessage: first.text }),
    ...(preview !== undefined && { preview }),
    ...(intent !== undefined && { intent }),
    counts: { messages },
    activeAt: newest[0]?.changedAt ?? 0,
  }
}

const firstRow = (scope: Scope, { session, thread }: ThreadPlace) =>
  scope.engine.backend.rows.list(scope.tenant, 'messages', { index: 'byThread', equals: [session, thread], limit: 1 })

async function told(scope: Scope, row: MessageRow): Promise<MessageSummary | undefined> {
  return isShown(row) ? summaryOf(await readContent(scope, row.content)) : undefined
}
