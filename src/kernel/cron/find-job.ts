// A job by its name.

import { refuse } from '../../model/errors.ts'
import type { Id } from '../../model/ids.ts'
import type { JobRow } from '../../model/job.ts'
import { type Body, decodeBody } from '../../model/rows.ts'
import { nameId } from '../../model/tables.ts'
import { type DoneRow, readRow } from '../execute.ts'
import { takeName } from '../runs/names.ts'
import { checkOpen, type Scope } from '../scope.ts'

export async function findJob(scope: Scope, given: string): Promise<DoneRow | undefined> {
  checkOpen(scope.engine)
  const name = takeName(scope, given, 'a job')
  const named = await scope.engine.backend.rows.get(scope.tenant, 'names', nameId('job', name))
  if (!named) return undefined
  const found = await readRow(scope, 'jobs', decodeBody<{ target: Id } & Body>(named.body).target)
  return found.body ? found : undefined
}

export async function theJob(scope: Scope, name: string): Promise<JobRow> {
  const found = await findJob(scope, name)
  if (!found) throw refuse('JOB_UNKNOWN', { name: String(name).slice(0, 80) })
  return found.body as unknown as JobRow
}
