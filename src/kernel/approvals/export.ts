// Exports approvals for auditors: all of them, oldest first, as lines that can be checked without the store.

import { APPROVAL_STATES, type ApprovalRow, type ApprovalState } from '../../model/approval.ts'
import { EXPORT_GENESIS, lastLine, recordLine } from '../../model/approval-export.ts'
import type { TenantId } from '../../model/ids.ts'
import { checkKnown, checkSeq, optionsOf } from '../../model/options.ts'
import { decodeBody } from '../../model/rows.ts'
import { everyRow } from '../every-row.ts'
import { checkState } from '../list.ts'
import { stopIfAsked } from '../read.ts'
import { checkOpen, type Scope } from '../scope.ts'

export interface ExportOptions {
  /** Only approvals that were asked after this seq. */
  readonly after?: number
  readonly state?: ApprovalState
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
  const { after = 0, state, signal, ...unknown } = optionsOf(options, 'export')
  checkKnown(unknown, 'an export')
  checkSeq(after)
  checkState(state, APPROVAL_STATES, 'approval')
  const { sha256 } = scope.engine.environment.digest
  stopIfAsked(scope, signal)
  let chain = EXPORT_GENESIS
  let count = 0
  const range = state === undefined ? { index: 'byBorn', equals: [] } : { index: 'byState', equals: [state] }
  for await (const { born, revision, body } of everyRow(scope, 'approvals', { ...range, from: after + 1, limit: AT_A_TIME })) {
    stopIfAsked(scope, signal)
    const record: ApprovalRecord = { ...decodeBody(body), tenant: scope.tenant, seq: born, revision }
    const made = recordLine(sha256, ++count, chain, record)
    chain = made.chain
    yield made.line
  }
  yield lastLine(count, chain)
}
