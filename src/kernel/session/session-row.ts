// Reads the row of a session. A row whose schema version this program does not know is refused.

import { checkRecord } from '../../model/record-version.ts'
import { decodeBody } from '../../model/rows.ts'
import type { SessionRow } from '../../model/session.ts'
import type { Scope } from '../wiring/scope.ts'
import { type DoneRow, readStored } from '../writing/part.ts'

export const checkSessionRow = (row: SessionRow): SessionRow => checkRecord(row, { record: 'session', id: row.id })

export async function readSessionRow(scope: Scope, id: string): Promise<DoneRow<SessionRow>> {
  const row = await readStored(scope, 'sessions', id)
  return row
    ? { body: checkSessionRow(decodeBody(row.body, { table: 'sessions', id })), revision: row.revision }
    : { body: undefined, revision: 0 }
}
