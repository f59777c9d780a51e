// Pruning: what ended long ago leaves the rows, with everything that belongs to it. The journal still says what it was.

import type { Id } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { ENDINGS, type ProcessId } from '../../model/process.ts'
import { decodeBody } from '../../model/rows.ts'
import { everyRow } from '../every-row.ts'
import { type Part, part, plan, readRow } from '../execute.ts'
import { lease } from '../leases/lease-decider.ts'
import { type PruneBefore, takeBefore } from '../prune-options.ts'
import { checkOpen, type Scope } from '../scope.ts'
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
      // Given while it went: there is nobody to give any more once it is gone.
      grants += await pruneGrants(scope, id)
    }
  }
  return { processes, events, grants }
}

/** The last of it: until then a crash leaves something that is found again. */
async function pruneOne(scope: Scope, id: ProcessId): Promise<number> {
  const items = [runItem(scope, id), abandonItem(scope, id)].map((item) => part(work, item, { verb: 'complete' }))
  const gone = part(processDecider, id, { verb: 'prune' })
  const { receipts } = await plan(scope, [gone, part(lease, processLease(scope, id), { verb: 'forget' }), ...items])
  return receipts.length > 0 ? 1 : 0
}

/** Nothing is added to what has ended, so its events are known by their numbers, those that were erased too. */
async function pruneEvents(scope: Scope, id: ProcessId): Promise<number> {
  const { rows: last } = await scope.engine.backend.rows.list(scope.tenant, 'process_events', {
    index: 'byProcess',
    equals: [id],
    backwards: true,
    limit: 1,
  })
  let most = last[0] ? (decodeBody(last[0].body).number as number) : 0
  while ((await readRow(scope, 'process_events', eventId(scope, id, most + 1))).body) most++
  // From the newest to the oldest: whatever a crash leaves ends where the next look begins.
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
