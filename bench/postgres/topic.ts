// The workloads on PostgreSQL, in the order they run.

import type { Workload } from '../lib/workload.ts'
import { appendAgainstEmmett } from './append.ts'
import { costs } from './costs.ts'
import { nodes } from './nodes.ts'

export const postgres: readonly Workload[] = [appendAgainstEmmett, nodes, costs]
