// The workloads of canvases.

import type { Workload } from '../lib/workload.ts'
import { disk } from './disk.ts'
import { patches } from './patches.ts'
import { versions } from './versions.ts'

export const canvas: readonly Workload[] = [patches, versions, disk]
