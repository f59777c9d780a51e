// Writes to a process as any caller, or as the holder of its lease. A claim of a work item is settled in the commit that ends the process.

import { InkError, refuse } from '../../../model/errors.ts'
import type { Id } from '../../../model/ids.ts'
import type { ProcessRow } from '../../../model/process.ts'
import type { Guard } from '../../../ports/commit.ts'
import type { Scope } from '../../wiring/scope.ts'
import { type Done, type Part, part, plan } from '../../writing/execute.ts'
import type { OwnLease } from '../leases/keeper.ts'
import { keeperOf } from '../leases/keeper.ts'
import { lease } from '../leases/lease-decider.ts'
import type { ClaimHandle } from '../work/claim.ts'
import { work } from '../work/work-decider.ts'
import { abandonItem, processLease, runItem } from './ids.ts'

export interface WriteAs {
  write(scope: Scope, parts: readonly Part[], guards: readonly Guard[]): Promise<Done>
  /** Writes the commit that ends the process, with everything that ends with it. `row` is the row after the end. */
  end(scope: Scope, row: ProcessRow, parts: readonly Part[], guards: readonly Guard[]): Promise<Done>
}

const finished = ({ id, name, state }: ProcessRow) => refuse('PROCESS_FINISHED', { process: id, name, state })

/** Completes the work items of the process: no worker has to find it any more. */
const itemParts = (scope: Scope, { id }: ProcessRow, settled?: Id<'work'>): readonly Part[] =>
  [runItem(scope, id), abandonItem(scope, id)].filter((item) => item !== settled).map((item) => part(work, item, { verb: 'complete' }))

/** Writes from outside. The end takes the lease from its holder, and a holder in this store is told at once. A claim is settled by the end. */
export const outside = (claim?: ClaimHandle): WriteAs => ({
  write: (scope, parts, guards) => plan(scope, parts, { guards }),
  end: async (scope, row, parts, guards) => {
    const id = processLease(scope, row.id)
    const all = [...itemParts(scope, row, claim?.id), part(lease, id, { verb: 'end' }), ...parts]
    const done = claim ? await claim.settle({ verb: 'complete' }, 'completed', all, guards) : await plan(scope, all, { guards })
    const keeper = keeperOf(scope.engine)
    // The holder may be about to keep the lease that it took just before.
    await keeper.alone(scope.tenant, id, async () => {
      const hold = keeper.borrow(scope.tenant, id)
      if (hold) keeper.lose(hold, finished(row))
    })
    return done
  },
})

export const anybody: WriteAs = outside()

/** Writes as the lease holder, guarded by the fence. The end releases the lease in the same commit. */
export const holding = (hold: OwnLease, claim?: ClaimHandle): WriteAs => ({
  write: (scope, parts, guards) => orLose(scope, hold, () => plan(scope, parts, { guards: [hold.guard, ...guards] })),
  end: async (scope, row, parts, guards) => {
    const keeper = keeperOf(scope.engine)
    const all = [...itemParts(scope, row, claim?.id), keeper.releasePart(hold, {}), ...parts]
    const guarded = [hold.guard, ...guards]
    return keeper.alone(scope.tenant, hold.id, async () => {
      const last = keeper.leave(hold)
      try {
        const done = await orLose(scope, hold, () =>
          claim ? claim.settle({ verb: 'complete' }, 'completed', all, guarded) : plan(scope, all, { guards: guarded }),
        )
        if (last) keeper.letGo(hold)
        else keeper.lose(hold, finished(row))
        return done
      } catch (error) {
        keeper.stay(hold)
        throw error
      }
    })
  },
})

async function orLose<T>({ engine }: Scope, hold: OwnLease, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (error instanceof InkError && error.code === 'FENCE_LOST' && error.details.id === hold.id) keeperOf(engine).lose(hold, error)
    throw error
  }
}
