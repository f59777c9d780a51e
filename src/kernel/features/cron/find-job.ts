// Finds a job by its name. The id follows from the name.

import { refuse } from '../../../model/errors.ts'
import type { JobRow } from '../../../model/job.ts'
import { quoted } from '../../../model/options.ts'
import { takeName } from '../../naming/names.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { readRow } from '../../writing/execute.ts'
import { jobId } from './ids.ts'

/** A job and the revision that a guard needs. */
export interface FoundJob {
  readonly body: JobRow
  readonly revision: number
}

export async function findJob(scope: Scope, given: string): Promise<FoundJob | undefined> {
  checkOpen(scope.engine)
  const found = await readRow(scope, 'jobs', jobId(scope, takeName(scope, given, 'a job')))
  return found.body && { body: found.body, revision: found.revision }
}

export async function theJob(scope: Scope, name: string): Promise<JobRow> {
  const found = await findJob(scope, name)
  if (!found) throw refuse('JOB_UNKNOWN', { name: quoted(name).slice(0, 80) })
  return found.body
}
