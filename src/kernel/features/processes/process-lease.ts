// The lease of a process. Its fence grows with every holder.

import { refuse } from '../../../model/errors.ts'
import { checkKnown, optionsOf } from '../../../model/options.ts'
import type { ProcessId, ProcessRow } from '../../../model/process.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'
import type { Guard } from '../../../ports/commit.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { Bell } from '../../reading/read-events.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { isConflict } from '../../writing/commit-outcome.ts'
import { type Part, plan, readRow } from '../../writing/execute.ts'
import { heldBy, keeperOf, type OwnLease, type Standing } from '../leases/keeper.ts'
import type { LeaseHolder } from '../leases/lease-holder.ts'
import { processLease } from './ids.ts'
import { going } from './process-decider.ts'

export interface ProcessLeaseOptions {
  /** How long to wait for the present holder. The default is not to wait. */
  readonly wait?: Duration
  readonly signal?: AbortSignal
}

// The longest time between two looks at a lease: a released lease rings the bell, an expired one does not.
const LOOK_MS = 1000

/** Takes the lease; re-entrant within this store. Throws PROCESS_HELD if another holder has it. */
export async function holdProcess(
  scope: Scope,
  id: ProcessId,
  options?: ProcessLeaseOptions,
): Promise<{ readonly hold: OwnLease; readonly row: ProcessRow }> {
  checkOpen(scope.engine)
  const { wait = 0, signal, ...unknown } = optionsOf(options, 'claim')
  checkKnown(unknown, 'a claim')
  const { environment } = scope.engine
  const keeper = keeperOf(scope.engine)
  const until = environment.clock.monotonic() + milliseconds(wait)
  const lease = processLease(scope, id)
  const bell = new Bell(scope, [signal, scope.engine.closing])
  try {
    for (;;) {
      bell.reset()
      stopIfAsked(scope, signal)
      const seen = await readRow(scope, 'processes', id)
      const row = going(seen.body, id)
      const { hold, heldMs } = await keeper.alone(scope.tenant, lease, async () => {
        const borrowed = keeper.borrow(scope.tenant, lease)
        if (borrowed) return { hold: borrowed }
        const standing = await keeper.look(scope.tenant, lease)
        if (standing.free) return { hold: await take(scope, row, standing, [rowGuard(id, seen.revision)]).catch(unlessMoved) }
        const left = until - environment.clock.monotonic()
        if (left <= 0) throw isHeld(row, standing)
        return { heldMs: Math.min(left, standing.until - standing.now, LOOK_MS) }
      })
      if (hold) return { hold, row }
      // Otherwise another node was first, or the process changed: look again.
      if (heldMs !== undefined) await bell.rung(heldMs)
    }
  } finally {
    bell.close()
  }
}

export const rowGuard = (id: ProcessId, revision: number): Guard => ({ kind: 'row', table: 'processes', id, revision })

export const isHeld = ({ id, name, state }: ProcessRow, standing: Standing) =>
  refuse('PROCESS_HELD', { process: id, state, ...heldBy(name, standing) })

/** Takes a lease that was seen free, in one commit with the given parts. The caller looks and takes within `Keeper.alone`. */
export async function take(
  scope: Scope,
  { id, name }: ProcessRow,
  standing: Standing,
  guards: readonly Guard[],
  parts: readonly Part[] = [],
): Promise<OwnLease> {
  const keeper = keeperOf(scope.engine)
  const lease = processLease(scope, id)
  const { rows } = await plan(scope, [keeper.takePart(lease, name, standing, {}), ...parts], { guards: [standing.guard, ...guards] })
  return keeper.keep(scope.tenant, lease, rows[0])
}

function unlessMoved(error: unknown): undefined {
  if (isConflict(error, 'leases', 'processes')) return undefined
  throw error
}

/** Releases the lease if nothing else in this store uses it. A lease that cannot be released expires by itself. */
export async function releaseHold(scope: Scope, hold: OwnLease): Promise<void> {
  const { environment, closing } = scope.engine
  const keeper = keeperOf(scope.engine)
  await keeper.alone(scope.tenant, hold.id, async () => {
    try {
      if (!hold.signal.aborted && !closing.aborted && keeper.leave(hold)) await plan(scope, [keeper.releasePart(hold, {})])
    } catch (error) {
      environment.logger.warn('a lease could not be given back', { lease: hold.id, error: String(error) })
    }
    keeper.letGo(hold)
  })
}

/** The present holder. Undefined if there never was one, or the lease was released. */
export async function processHolder(scope: Scope, id: ProcessId): Promise<LeaseHolder | undefined> {
  checkOpen(scope.engine)
  const keeper = keeperOf(scope.engine)
  const { row, free, fence, now, until } = await keeper.look(scope.tenant, processLease(scope, id))
  if (row?.state !== 'held') return undefined
  // A lease that this store holds is free for this store only.
  const own = row.incarnation === keeper.holder.incarnation
  return { owner: row.owner, fence, until, lapsed: own ? until <= now : free, now }
}
