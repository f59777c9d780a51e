// Exports approvals for auditors: all of them or a selection, oldest first, as lines that can be checked without the store.

import type { ApprovalRow } from '../../../model/approval.ts'
import { EXPORT_GENESIS, lastLine, recordLine } from '../../../model/approval-export.ts'
import type { TenantId } from '../../../model/ids.ts'
import { checkKnown, checkSeq, filterOf } from '../../../model/options.ts'
import { decodeBody } from '../../../model/rows.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { everyRow } from '../../reading/every-row.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { type ApprovalFilter, splitFilter, takeFilter } from './filter.ts'

/** A filtered export says so in its last line. */
export interface ExportOptions extends ApprovalFilter {
  /** Only approvals that were asked after this seq. */
  readonly after?: number
  readonly signal?: AbortSignal
}

/** One exported approval: its row, and the seqs of its first and last event in the journal. */
export interface ApprovalRecord extends ApprovalRow {
  readonly tenant: TenantId
  readonly seq: number
  readonly revision: number
}

const AT_A_TIME = 100

/** Lines of NDJSON without line ends. Every export begins a new chain. */
export async function* exportApprovals(scope: Scope, options?: ExportOptions): AsyncGenerator<string, void, undefined> {
  checkOpen(scope.engine)
  const { filter, rest } = splitFilter(filterOf(options, 'approvals.export'))
  const { after, signal, ...unknown } = rest
  checkKnown(unknown, 'an export')
  if (after !== undefined) checkSeq(after)
  const { index, equals, matches, asked } = await takeFilter(scope, filter)
  const { sha256 } = scope.engine.environment.digest
  stopIfAsked(scope, signal)
  let chain = EXPORT_GENESIS
  let count = 0
  const range = { index, equals, from: (after ?? 0) + 1, limit: AT_A_TIME }
  for await (const { id, born, revision, body } of everyRow(scope, 'approvals', range)) {
    stopIfAsked(scope, signal)
    const row = decodeBody(body, { id })
    if (matches && !matches(row)) continue
    const record: ApprovalRecord = { ...row, tenant: scope.tenant, seq: born, revision }
    const made = recordLine(sha256, ++count, chain, record)
    chain = made.chain
    yield made.line
  }
  yield lastLine(sha256, count, chain, { ...asked, ...(after !== undefined && { after }) })
}
