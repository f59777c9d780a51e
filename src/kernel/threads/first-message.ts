// The first message of the default thread, for lists of sessions.

import { decodeBody } from '../../model/rows.ts'
import type { SessionRow, SessionSummary } from '../../model/session.ts'
import { summaryOf } from '../message-text.ts'
import type { Scope } from '../scope.ts'
import { readContent } from './content.ts'
import { mainThreadId } from './thread-memory.ts'

export async function firstMessage(scope: Scope, { id }: SessionRow): Promise<Partial<SessionSummary>> {
  const query = { index: 'byThread', equals: [id, mainThreadId(scope, id)], limit: 1 }
  const [stored] = (await scope.engine.backend.rows.list(scope.tenant, 'messages', query)).rows
  const row = stored && decodeBody(stored.body)
  if (!row?.content || row.hidden || row.role !== 'user') return {}
  const text = summaryOf(await readContent(scope, row.content))?.text
  return text ? { firstMessage: text, activeAt: row.changedAt } : {}
}
