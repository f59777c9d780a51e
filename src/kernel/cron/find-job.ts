// A job by its name, from which its id follows.

import { refuse } from '../../model/errors.ts'
import type { JobRow } from '../../model/job.ts'
import { type DoneRow, readRow } from '../execute.ts'
import { takeName } from '../names.ts'
import { checkOpen, type Scope } from '../scope.ts'
import { jobId } from './ids.ts'

export async function findJob(scope: Scope, given: string): Promise<DoneRow | undefined> {
  checkOpen(scope.engine)
  const found = await readRow(scope, 'jobs', jobId(scope, takeName(scope, given, 'a job')))
  return found.body ? found : undefined
}

export async function theJob(scope: Scope, name: string): Promise<JobRow> {
  const found = await findJob(scope, name)
  if (!found) throw refuse('JOB_UNKNOWN', { name: String(name).slice(0, 80) })
  return found.body as unknown as JobRow
}
