// The workloads of recall, in the order they run.

import type { Workload } from '../lib/workload.ts'
import { vectorWorkload } from './vectors.ts'
import { wordsWorkload } from './words.ts'

export const recall: readonly Workload[] = [wordsWorkload('SQLite'), wordsWorkload('PostgreSQL'), ...[64, 384, 768].map(vectorWorkload)]
