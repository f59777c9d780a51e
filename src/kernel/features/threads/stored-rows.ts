// Rows of threads and messages as they were read. A row whose schema version this program does not know is refused.

import { checkRecord } from '../../../model/record-version.ts'
import { decodeBody, type TableRow } from '../../../model/rows.ts'
import type { MessageRow, ThreadRow } from '../../../model/thread.ts'
import type { DoneRow } from '../../writing/execute.ts'

export const messageOf = ({ id, body }: Pick<TableRow<'messages'>, 'id' | 'body'>): MessageRow =>
  checkMessageRow(decodeBody(body, { table: 'messages', id }))

export const checkMessageRow = (row: MessageRow): MessageRow => checkRecord(row, { record: 'message', id: row.message })

export const checkThreadRow = (row: ThreadRow): ThreadRow => checkRecord(row, { record: 'thread', id: row.id })

/** A row that may be absent. */
export function checkedThread(found: DoneRow<ThreadRow>): DoneRow<ThreadRow> {
  if (found.body) checkThreadRow(found.body)
  return found
}
