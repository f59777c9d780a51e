// An execution environment that a process or a trigger names must have been put.

import { InkError, refuse } from '../../model/errors.ts'
import type { Guard } from '../../ports/commit.ts'
import { derivedId } from '../naming/derived-id.ts'
import type { Scope } from '../wiring/scope.ts'
import { readRow } from '../writing/execute.ts'

const NAMESPACE = 'process-env'

/** Reads the pointer of an environment, beside other reads. Undefined if the environment was never put. */
export async function environmentGuards(scope: Scope, env: string | undefined): Promise<readonly Guard[] | undefined> {
  if (env === undefined) return []
  const reference = env.slice(NAMESPACE.length + 1)
  const { body: row } = await readRow(scope, 'artifacts', derivedId(scope, `artifact/${NAMESPACE}/${reference}`))
  return row?.to && [{ kind: 'blob', digest: row.to.blob.digest }]
}

export const unknownEnvironment = (scope: Scope, env: string | undefined, cause?: unknown): InkError =>
  refuse('ENV_UNKNOWN', { env, tenant: scope.tenant }, cause)

/** The error of a commit with such a guard: the bytes of the environment may be gone although it has a pointer. */
export const namingEnvironment = (scope: Scope, env: string | undefined, error: unknown): unknown =>
  env !== undefined && error instanceof InkError && error.code === 'BLOB_UNKNOWN' && env.endsWith(String(error.details.digest))
    ? unknownEnvironment(scope, env, error)
    : error
