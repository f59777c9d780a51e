// Summary of the default thread for lists of sessions: its first message, its newest ones, and when it last changed.

import type { SessionRow, SessionSummary } from '../../model/session.ts'
import type { MessageRow } from '../../model/thread.ts'
import { type MessageSummary, summaryOf } from '../message-text.ts'
import type { Scope } from '../scope.ts'
import { readContent } from './content.ts'
import { isShown } from './list-messages.ts'
import { messageOf } from './stored-rows.ts'
import { mainThreadId } from './thread-memory.ts'

/** The last answer and the question before it are nearly always among these. */
const NEWEST = 4

export async function threadSummary(scope: Scope, { id }: SessionRow): Promise<Partial<SessionSummary>> {
  const read = async (limit: number, backwards: boolean): Promise<readonly MessageRow[]> => {
    const query = { index: 'byThread', equals: [id, mainThreadId(scope, id)], limit, backwards }
    return (await scope.engine.backend.rows.list(scope.tenant, 'messages', query)).rows.map(messageOf)
  }
  const rows = await read(NEWEST, true)
  const [newest] = rows
  if (!newest) return {}
  const [begun] = rows.length < NEWEST ? rows.slice(-1) : await read(1, false)
  const said = await Promise.all(rows.map((row) => told(scope, row)))
  const first = begun && (await told(scope, begun))
  const preview = said.find((one) => one?.text)?.text
  const intent = said.find((one) => one?.role === 'user' && one.text)?.text
  return {
    ...(first?.role === 'user' && first.text && { firstMessage: first.text }),
    ...(preview !== undefined && { preview }),
    ...(intent !== undefined && { intent }),
    activeAt: newest.changedAt,
  }
}

async function told(scope: Scope, row: MessageRow): Promise<MessageSummary | undefined> {
  return isShown(row) ? summaryOf(await readContent(scope, row.content)) : undefined
}
