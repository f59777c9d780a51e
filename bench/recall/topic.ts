// The workloads of recall, in the order they run.

import type { Workload } from '../lib/workload.ts'
import { vectorWorkload } from './vectors.ts'

export const recall: readonly Workload[] = [64, 384, 768].map(vectorWorkload)
