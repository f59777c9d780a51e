// `run.remember`: an item and its entry on the tape are one commit under the fence of the run, so that replay remembers nothing twice. The tape holds
// the id alone: a purge of the item removes its text everywhere.

import { type ErrorCode, InkError, refuse } from '../../../model/errors.ts'
import type { MemoryId, MemoryRow } from '../../../model/memory.ts'
import { maskKey } from '../../naming/names.ts'
import type { BranchHandle } from '../runs/program/branch.ts'
import { slotOf } from '../runs/program/call.ts'
import type { BuildChange } from '../runs/writing/change.ts'
import { embedLater } from './backfill-clock.ts'
import type { MemoryItem } from './memory-item.ts'
import { asTaken, type RememberOptions, rememberShare, takeRemembering } from './remember.ts'

/** An item that a run remembered, the same under replay. */
export type RememberedItem = Pick<MemoryItem, 'id' | 'about' | 'text'>

interface Outcome {
  readonly item?: MemoryId
  readonly refused?: { readonly code: ErrorCode; readonly details: Readonly<Record<string, unknown>> }
}

export async function rememberInRun(branch: BranchHandle, text: string, options?: RememberOptions): Promise<RememberedItem> {
  const { open } = branch
  const { scope } = open
  // A call that is not valid is refused before it counts, so that replay does not wait for it.
  const prepared = takeRemembering(scope, text, options)
  const { about, text: kept } = prepared.item
  const entry = await branch.asks('remember', maskKey(scope, about), async (asked) => {
    const at = scope.engine.environment.clock.now()
    const take = (outcome: Outcome) =>
      ({ verb: 'take', id: open.id, slot: slotOf(asked), kind: 'remember', outcome: { ...outcome } }) as const
    const done = (outcome: Outcome) => ({ ...asked, seq: 0, at, done: true, outcome: { ...outcome } })
    try {
      const build: BuildChange<readonly MemoryRow[]> = async (scope) => {
        const share = await rememberShare(scope, [prepared])
        return { command: take({ item: share.parts[0]?.id as MemoryId }), shares: [share] }
      }
      const [row] = await open.transact('take', build, { at }).catch(asTaken([prepared]))
      return done({ item: row?.id as MemoryId })
    } catch (error) {
      // The program may have caught it.
      if (!(error instanceof InkError && error.code === 'MEMORY_UNKNOWN')) throw error
      const outcome = { refused: { code: error.code, details: error.details } }
      await open.change(take(outcome), [], { at })
      return done(outcome)
    }
  })
  await embedLater(scope)
  const { item, refused } = (entry.outcome ?? {}) as Outcome
  if (refused) throw refuse(refused.code, refused.details)
  return { id: item as MemoryId, about, text: kept as string }
}
