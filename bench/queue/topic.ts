// The workloads of queues, in the order they run.

import type { Workload } from '../lib/workload.ts'
import { claims } from './claims.ts'
import { drain } from './drain.ts'
import { offers } from './offers.ts'
import { onSqlite } from './sqlite.ts'

export const queue: readonly Workload[] = [claims, drain, offers, onSqlite]
