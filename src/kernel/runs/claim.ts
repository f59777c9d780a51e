// Claiming a run: the item, the lease and the run move in one commit, or none of them.

import { refuse } from '../../model/errors.ts'
import type { Id } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { decodeBody } from '../../model/rows.ts'
import { runQueue, type WorkRow } from '../../model/work.ts'
import type { ListQuery } from '../../ports/rows.ts'
import { everyRow } from '../every-row.ts'
import { part, plan } from '../execute.ts'
import { errorData } from '../json-or-blob.ts'
import { leaseId } from '../names.ts'
import type { Scope } from '../scope.ts'
import { openGuard } from '../session-guard.ts'
import { work } from '../work/work-decider.ts'
import { endingParts } from './ending.ts'
import { heldBy } from './keeper.ts'
import { readRun } from './result.ts'
import { handOf, type RunInHand } from './run.ts'
import { run as decider, holdingsOf } from './run-decider.ts'

export type Claimed = { readonly run: RunInHand } | { readonly failed: true }

export interface Item {
  readonly id: Id<'work'>
  /** Changes with everything that happens to it. */
  readonly revision: number
  readonly claimed: boolean
}

const PAGE = 50

/** What is due in store time, earliest first, page by page: ready items, and claims whose time was up when they were last heard of. */
export async function* dueItems(scope: Scope, name: string, now: number): AsyncGenerator<Item, void, undefined> {
  yield* itemsOf(scope, { index: 'byDue', equals: [runQueue(name)], from: 0, below: now + 1, limit: PAGE })
}

/** Claims whose holder is provably gone, whatever their time. */
export async function* orphanedItems(scope: Scope, name: string): AsyncGenerator<Item, void, undefined> {
  const { liveness } = scope.engine.environment
  if (!liveness) return
  for await (const item of itemsOf(scope, { index: 'byReady', equals: [runQueue(name), 'claimed'], limit: PAGE }))
    if (item.mark && liveness.isGone(item.mark)) yield item
}

async function* itemsOf(scope: Scope, query: ListQuery): AsyncGenerator<Item & Pick<WorkRow, 'mark'>, void, undefined> {
  for await (const { id, revision, body } of everyRow(scope, 'work', query)) {
    const { state, mark } = decodeBody(body)
    yield { id: id as Id<'work'>, revision, claimed: state === 'claimed', mark }
  }
}

/** RUN_HELD or CONFLICT where somebody else has it. */
export async function claimRun(scope: Scope, item: Id<'work'>): Promise<Claimed> {
  const { engine, tenant } = scope
  const stored = await engine.backend.rows.get(tenant, 'work', item)
  const found = stored && decodeBody(stored.body)
  if (!stored || !found?.run) throw refuse('CONFLICT', { table: 'work', id: item, tries: 1 })
  const row = await readRun(scope, found.run)
  if (!row) throw refuse('RUN_UNKNOWN', { run: found.run, tenant })
  const { id, session, name } = row
  await openGuard(scope, session)
  const about = { session, run: id }
  const lease = leaseId(scope, session, id, row.parallel)
  const standing = await engine.keeper.look(tenant, lease)
  // The lease says whether the holder of a claim is still there: it is what is renewed. Runs of a session come one after the other, on one
  // node as on several, so what this process holds is not lent to another of them.
  if (!standing.free || engine.keeper.holds(tenant, lease)) throw refuse('RUN_HELD', heldBy(name, standing))
  const until = standing.now + engine.keeper.ttlMs
  const claim = part(work, item, { verb: 'claim', ...engine.keeper.holder, now: standing.now, until, free: true }, about)
  if (found.strikes + 1 >= limits.runStrikes && found.state === 'claimed') {
    const error = { name: 'Poisoned', message: `whoever took it up died, ${found.strikes + 1} times in a row` }
    await plan(scope, [
      part(decider, id, { verb: 'fail', id, holdings: holdingsOf(row), error }, about),
      ...(await endingParts(scope, row, 'failed')),
    ])
    return { failed: true }
  }
  const begin = part(decider, id, { verb: 'begin', id }, about)
  // Both are as they were seen: nobody took either of them meanwhile.
  const guards = [standing.guard, { kind: 'row', table: 'work', id: item, revision: stored.revision }] as const
  const { rows } = await plan(scope, [engine.keeper.takePart(lease, name, standing, about), claim, begin], { guards })
  const hold = engine.keeper.keep(tenant, lease, rows[0])
  try {
    return { run: await handOf(scope, hold, id, rows[2]) }
  } catch (error) {
    // Its input cannot be read: it waits for somebody to mend that.
    const halt = part(decider, id, { verb: 'halt', id, error: errorData(scope, error) }, about)
    await plan(scope, [halt, part(work, item, { verb: 'park' }, about), engine.keeper.releasePart(hold, about)])
    engine.environment.logger.error('a run cannot be taken up', { run: id, name, error: String(error) })
    return { failed: true }
  }
}
