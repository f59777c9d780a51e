// Cleans up after a deleted session: takes its handles back, and stops processes from waking it. The processes stay.

import type { Id, SessionId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { hasEnded, type ProcessId, type ProcessRow } from '../../../model/process.ts'
import type { RowOf } from '../../../model/row-types.ts'
import { decodeBody } from '../../../model/rows.ts'
import type { TableName } from '../../../model/tables.ts'
import type { Scope } from '../../wiring/scope.ts'
import { type Part, part, plan } from '../../writing/execute.ts'
import { grant } from './grant-decider.ts'
import { readProcess } from './ids.ts'
import { processDecider } from './process-decider.ts'

export interface LeavingReport {
  /** The number of handles that were taken back. */
  readonly revoked: number
  /** The number of processes that were to wake the session. */
  readonly unwoken: number
  /** Names of processes that go on and that no session has a handle on any more. */
  readonly orphaned: readonly string[]
  /** Names of all processes that the session had a handle on or was to be woken by. They are still there. */
  readonly kept: readonly string[]
}

/** Works in steps: after a crash, a second call does the rest. */
export async function leaveProcesses(scope: Scope, session: SessionId): Promise<LeavingReport> {
  const touched = new Set<ProcessId>()
  const revoked = await forAll(scope, 'grants', 'bySession', session, (id, row) => {
    touched.add(row.process)
    return part(grant, id, { verb: 'revoke', why: 'sessionDeleted' }, { session })
  })
  const unwoken = await forAll(scope, 'processes', 'byWake', session, (id) => {
    touched.add(id as ProcessId)
    return part(processDecider, id, { verb: 'unwake', session })
  })
  const rows = (await Promise.all([...touched].map((id) => readProcess(scope, id)))).filter((row) => row !== undefined)
  const orphaned: string[] = []
  for (const row of rows) if (!hasEnded(row.state) && !(await isGranted(scope, row))) orphaned.push(row.name)
  return { revoked, unwoken, orphaned, kept: rows.map(({ name }) => name) }
}

async function forAll<T extends TableName>(
  scope: Scope,
  table: T,
  index: string,
  session: SessionId,
  take: (id: Id, row: RowOf<T>) => Part,
): Promise<number> {
  for (let count = 0; ; ) {
    const query = { index, equals: [session], limit: limits.prunedAtOnce }
    const { rows } = await scope.engine.backend.rows.list(scope.tenant, table, query)
    if (rows.length === 0) return count
    await plan(
      scope,
      rows.map(({ id, body }) => take(id as Id, decodeBody(body, { id }))),
    )
    count += rows.length
  }
}

async function isGranted(scope: Scope, { id }: ProcessRow): Promise<boolean> {
  const { rows } = await scope.engine.backend.rows.list(scope.tenant, 'grants', { index: 'byProcess', equals: [id], limit: 1 })
  return rows.length > 0
}
