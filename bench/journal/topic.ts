// The journal's workloads, in the order they run: what builds large files comes before what only uses them.

import type { Workload } from '../lib/workload.ts'
import { appendAgainstEmmett } from './append-emmett.ts'
import { appendAgainstRaw } from './append-raw.ts'
import { growth } from './growth.ts'
import { load } from './load.ts'
import { openLarge } from './open.ts'
import { redaction } from './redactor.ts'
import { verifyRate } from './verify.ts'

export const journal: readonly Workload[] = [appendAgainstRaw, appendAgainstEmmett, redaction, verifyRate, openLarge, growth, load]
