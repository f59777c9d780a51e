// Holding a process: the lease is its own, and the fence grows with every holder.

import { refuse } from '../../model/errors.ts'
import { checkKnown, optionsOf } from '../../model/options.ts'
import type { ProcessId, ProcessRow } from '../../model/process.ts'
import { type Duration, milliseconds } from '../../model/time.ts'
import type { Guard } from '../../ports/commit.ts'
import { type Part, plan, readRow } from '../execute.ts'
import { type Hold, heldBy, keeperOf, type Standing } from '../leases/keeper.ts'
import { isConflict } from '../outcome.ts'
import { Bell, stopIfAsked } from '../read.ts'
import type { RunHolder } from '../runs/holder.ts'
import { checkOpen, type Scope } from '../scope.ts'
import { processLease } from './ids.ts'
import { going } from './process-decider.ts'

export interface HoldOptions {
  /** How long to wait for whoever holds it; by default not at all. */
  readonly wait?: Duration
  readonly signal?: AbortSignal
}

// How long at most until a lease is looked at again: one that was given back rings, one that ran out does not.
const LOOK_MS = 1000

/** Re-entrant within this store. PROCESS_HELD where somebody else has it. */
export async function holdProcess(
  scope: Scope,
  id: ProcessId,
  options?: HoldOptions,
): Promise<{ readonly hold: Hold; readonly row: ProcessRow }> {
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
      const borrowed = keeper.borrow(scope.tenant, lease)
      if (borrowed) return { hold: borrowed, row }
      const standing = await keeper.look(scope.tenant, lease)
      const left = until - environment.clock.monotonic()
      if (!standing.free) {
        if (left <= 0) throw isHeld(row, standing)
        await bell.rung(Math.min(left, standing.until - standing.now, LOOK_MS))
        continue
      }
      const hold = await take(scope, row, standing, [rowGuard(id, seen.revision)]).catch(unlessMoved)
      // Somebody was quicker, or it changed: it is looked at again.
      if (hold) return { hold, row }
    }
  } finally {
    bell.close()
  }
}

export const rowGuard = (id: ProcessId, revision: number): Guard => ({ kind: 'row', table: 'processes', id, revision })

export const isHeld = ({ id, name, state }: ProcessRow, standing: Standing) =>
  refuse('PROCESS_HELD', { process: id, state, ...heldBy(name, standing) })

/** Taken as it was seen to be free, with whatever is written together with that. */
export async function take(
  scope: Scope,
  { id, name }: ProcessRow,
  standing: Standing,
  guards: readonly Guard[],
  parts: readonly Part[] = [],
): Promise<Hold> {
  const keeper = keeperOf(scope.engine)
  const lease = processLease(scope, id)
  const { rows } = await plan(scope, [keeper.takePart(lease, name, standing, {}), ...parts], { guards: [standing.guard, ...guards] })
  return keeper.keep(scope.tenant, lease, rows[0])
}

function unlessMoved(error: unknown): undefined {
  if (isConflict(error, 'leases', 'processes')) return undefined
  throw error
}

/** Gives it back, where nobody else here has it. What cannot be given back runs out by itself. */
export async function releaseHold(scope: Scope, hold: Hold): Promise<void> {
  const { environment, closing } = scope.engine
  const keeper = keeperOf(scope.engine)
  try {
    if (!hold.signal.aborted && !closing.aborted && keeper.leave(hold)) await plan(scope, [keeper.releasePart(hold, {})])
  } catch (error) {
    environment.logger.warn('a lease could not be given back', { lease: hold.id, error: String(error) })
  }
  keeper.letGo(hold)
}

/** Who may write for it right now; undefined where nobody ever held it, or it was given back. */
export async function processHolder(scope: Scope, id: ProcessId): Promise<RunHolder | undefined> {
  checkOpen(scope.engine)
  const keeper = keeperOf(scope.engine)
  const { row, free, fence, now, until } = await keeper.look(scope.tenant, processLease(scope, id))
  if (row?.state !== 'held') return undefined
  // What this store holds is free for itself, and for nobody else.
  const own = row.incarnation === keeper.holder.incarnation
  return { owner: row.owner, fence, until, lapsed: own ? until <= now : free, now }
}
