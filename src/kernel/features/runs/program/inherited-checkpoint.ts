// The checkpoint that a fork begins with: the newest one that its source had saved at the fork point, while its content is still stored.

import type { CheckpointManifest } from '../../../../model/checkpoint.ts'
import { InkError } from '../../../../model/errors.ts'
import type { RunId } from '../../../../model/ids.ts'
import type { RunCheckpoint, RunRow, Slot } from '../../../../model/run.ts'
import type { Guard } from '../../../../ports/commit.ts'
import { referenceGuards } from '../../../content/references.ts'
import { decodePayload } from '../../../reading/decode-event.ts'
import type { Scope } from '../../../wiring/scope.ts'
import { manifestRefs, readComponents, readTurnState } from '../../checkpoints/components.ts'
import { readRun } from '../result.ts'

/** Undefined if there was none, or if its content was collected: then the fork replays from the start. */
export async function checkpointAt(scope: Scope, fork: ForkPoint): Promise<RunCheckpoint | undefined> {
  const found = await passedBy(scope, fork)
  return found && (await isStored(scope, found)) ? found : undefined
}

/** The epoch in which a run is. A fork that replays from the start passes the checkpoints of its source. */
export const epochOf = async (scope: Scope, { checkpoint, fork }: Pick<RunRow, 'checkpoint' | 'fork'>): Promise<number> =>
  (checkpoint ?? (fork && (await passedBy(scope, fork))))?.epoch ?? 0

type ForkPoint = NonNullable<RunRow['fork']>

/** The newest checkpoint at a fork point, whether or not its content is still stored. */
async function passedBy(scope: Scope, { run, at }: ForkPoint): Promise<RunCheckpoint | undefined> {
  for (;;) {
    const row = await readRun(scope, run)
    if (!row) return undefined
    // A run that only inherited a checkpoint has saved none itself.
    const found = row.checkpoint && row.checkpoint.run === undefined ? await savedBy(scope, run, at) : undefined
    if (found) return found
    if (!row.fork) return undefined
    at = Math.min(at, row.fork.at)
    run = row.fork.run
  }
}

/** Guards that the content of an inherited checkpoint is still there when the fork is written. */
export const checkpointGuards = (checkpoint: RunCheckpoint | undefined): readonly Guard[] =>
  referenceGuards(manifestRefs(checkpoint?.manifest))

async function savedBy(scope: Scope, run: RunId, at: number): Promise<RunCheckpoint | undefined> {
  const query = { run, backwards: true, limit: 1, types: [{ text: 'run.checkpointed', prefix: false }] }
  for (let from = at + 1; ; ) {
    const { events, through, more } = await scope.engine.backend.journal.page(scope.tenant, { ...query, from })
    const [event] = events
    if (event) {
      if (event.payload === undefined) return undefined
      const { epoch = 0, now, manifest } = decodePayload(scope.tenant, event.seq, event.payload) as Slot & SavedData
      return { epoch: epoch + 1, event: event.id, run, now, manifest }
    }
    if (!more) return undefined
    from = through
  }
}

interface SavedData {
  readonly now: number
  readonly manifest: CheckpointManifest
}

async function isStored(scope: Scope, { manifest }: RunCheckpoint): Promise<boolean> {
  if (!manifest) return false
  try {
    await Promise.all([readComponents(scope, manifest), readTurnState(scope, manifest)])
    return true
  } catch (error) {
    if (error instanceof InkError && error.code === 'COMPONENT_LOST' && error.details.why === 'missing') return false
    throw error
  }
}
