// Removes attachments that no turn has committed, by their age. Garbage collection deletes the bytes once nothing refers to them.

import type { Id, TenantId } from '../../../model/ids.ts'
import { checkKnown, filterOf } from '../../../model/options.ts'
import { everyTenant } from '../../../model/tenant-pages.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { everyPage } from '../../reading/every-row.ts'
import { purgeTime } from '../../time/purge-time.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { part, plan } from '../../writing/execute.ts'
import { attachmentOf } from './attachment.ts'
import { attachment } from './attachment-decider.ts'

export interface SweepOptions {
  /** Only attachments whose intent is older. The default is a day. */
  readonly olderThan?: Duration
  readonly signal?: AbortSignal
}

export interface SweepReport {
  /** Attachments without a turn, of any age. */
  readonly scanned: number
  readonly reclaimed: number
  /** Bytes of the reclaimed ones. Others may share them. */
  readonly bytes: number
}

const DAY_MS = 24 * 60 * 60 * 1000
const AT_ONCE = 500

/** Sweeps all active tenants, or the one of this view. */
export async function sweepAttachments(scope: Scope, only: TenantId | undefined, options?: SweepOptions): Promise<SweepReport> {
  checkOpen(scope.engine)
  const { olderThan, signal, ...unknown } = filterOf(options, 'attachments.sweep')
  checkKnown(unknown, 'a sweep')
  const age = olderThan === undefined ? DAY_MS : milliseconds(olderThan)
  const { journal } = scope.engine.backend
  const report = { scanned: 0, reclaimed: 0, bytes: 0 }
  stopIfAsked(scope, signal)
  for await (const tenant of only === undefined ? everyTenant(journal.tenants) : [only]) {
    if (only === undefined && (await journal.head(tenant)).state !== 'active') continue
    const view = { ...scope, tenant }
    const before = (await purgeTime(view)) - age
    for (const state of ['intended', 'stored']) await sweepState(view, state, before, report, signal)
  }
  return report
}

async function sweepState(
  scope: Scope,
  state: string,
  before: number,
  report: { scanned: number; reclaimed: number; bytes: number },
  signal: AbortSignal | undefined,
): Promise<void> {
  for await (const rows of everyPage(scope, 'attachments', { index: 'byState', equals: [state], limit: AT_ONCE })) {
    stopIfAsked(scope, signal)
    report.scanned += rows.length
    const old = rows.map((stored) => ({ id: stored.id as Id, row: attachmentOf(stored) })).filter(({ row }) => row.at <= before)
    if (old.length === 0) continue
    // A turn that commits one of them first keeps it: the decision is made on the row as it is then.
    const { rows: left } = await plan(
      scope,
      old.map(({ id, row }) => part(attachment, id, { verb: 'forget', orphan: true }, { session: row.session })),
    )
    for (const [i, { body }] of left.entries()) {
      if (body) continue
      report.reclaimed++
      report.bytes += old[i]?.row.size ?? 0
    }
  }
}
