// PostgreSQL: the journal, the rows and the receipts, for as many nodes as needed, with tenants walled off by the database itself.

import type { Backend } from '../../ports/backend.ts'
import { openDatabase } from './open.ts'
import { backendOn, type PostgresOptions } from './serve.ts'

export type { PostgresOptions }

export async function postgresBackend(options: PostgresOptions): Promise<Backend> {
  return backendOn(await openDatabase(options), options)
}
