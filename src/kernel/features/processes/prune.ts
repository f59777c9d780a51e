// Prunes processes that ended long ago, with everything that belongs to them. The journal keeps their events.

import type { Id } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { ENDINGS, type ProcessId } from '../../../model/process.ts'
import { decodeBody } from '../../../model/rows.ts'
import { everyRow } from '../../reading/every-row.ts'
import { type PruneBefore, takeBefore } from '../../time/prune-options.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { type Part, part, plan, readRow } from '../../writing/execute.ts'
import { lease } from '../leases/lease-decider.ts'
import { work } from '../work/work-decider.ts'
import { grant } from './grant-decider.ts'
import { abandonItem, eventId, processLease, runItem } from './ids.ts'
import { processDecider } from './process-decider.ts'
import { processEvent } from './process-event-decider.ts'

export interface PruneReport {
  readonly processes: number
  readonly events: number
  readonly grants: number
}

export async function pruneProcesses(scope: Scope, options: PruneBefore): Promise<PruneReport> {
  checkOpen(scope.engine)
  const time = takeBefore(options)
  let [processes, events, grants] = [0, 0, 0]
  for (const state of ENDINGS) {
    for await (const { body } of everyRow(scope, 'processes', { index: 'byState', equals: [state], limit: limits.prunedAtOnce })) {
      const { id, endedAt = time } = decodeBody(body)
      if (endedAt >= time) continue
      events += await pruneEvents(scope, id)
      grants += await pruneGrants(scope, id)
      processes += await pruneOne(scope, id)
      // A grant that was given in between is revoked too. Once the process is gone, no more can be given.
      grants += await pruneGrants(scope, id)
    }
  }
  return { processes, events, grants }
}

/** Removes the row of the process last: after a crash, the next call finds what is left. */
async function pruneOne(scope: Scope, id: ProcessId): Promise<number> {
  const items = [runItem(scope, id), abandonItem(scope, id)].map((item) => part(work, item, { verb: 'complete' }))
  const gone = part(processDecider, id, { verb: 'prune' })
  const { receipts } = await plan(scope, [gone, part(lease, processLease(scope, id), { verb: 'forget' }), ...items])
  return receipts.length > 0 ? 1 : 0
}

/** An ended process gets no more events, so its events are known by their numbers, erased ones too. */
async function pruneEvents(scope: Scope, id: ProcessId): Promise<number> {
  const { rows: last } = await scope.engine.backend.rows.list(scope.tenant, 'process_events', {
    index: 'byProcess',
    equals: [id],
    backwards: true,
    limit: 1,
  })
  let most = last[0] ? (decodeBody(last[0].body).number as number) : 0
  while ((await readRow(scope, 'process_events', eventId(scope, id, most + 1))).body) most++
  // Removes from the newest to the oldest: after a crash, the next call begins at the newest that is left.
  let count = 0
  for (let to = most; to > 0; to -= limits.prunedAtOnce) {
    const from = Math.max(1, to - limits.prunedAtOnce + 1)
    const parts: Part[] = []
    for (let number = from; number <= to; number++) parts.push(part(processEvent, eventId(scope, id, number), { verb: 'prune' }))
    count += (await plan(scope, parts)).receipts.length
  }
  return count
}

async function pruneGrants(scope: Scope, id: ProcessId): Promise<number> {
  for (let count = 0; ; ) {
    const query = { index: 'byProcess', equals: [id], limit: limits.prunedAtOnce }
    const { rows } = await scope.engine.backend.rows.list(scope.tenant, 'grants', query)
    if (rows.length === 0) return count
    const parts = rows.map((row) => part(grant, row.id as Id, { verb: 'revoke', why: 'pruned' }))
    count += (await plan(scope, parts)).receipts.length
  }
}
