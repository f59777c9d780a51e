// The workloads of runs, in the order they run.

import type { Workload } from '../lib/workload.ts'
import { effectsOnPostgres } from './effects-postgres.ts'
import { effectsOnSqlite } from './effects-sqlite.ts'
import { growth } from './growth.ts'
import { takeover } from './takeover.ts'

export const runs: readonly Workload[] = [effectsOnPostgres, effectsOnSqlite, growth, takeover]
