// The workloads of stores with many tenants.

import type { Workload } from '../lib/workload.ts'
import { channels } from './channels.ts'
import { looks } from './looks.ts'

export const tenants: readonly Workload[] = [looks('SQLite'), looks('PostgreSQL'), channels]
