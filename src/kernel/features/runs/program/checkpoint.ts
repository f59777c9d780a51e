// Checkpoints of a run. A checkpoint stores named components and begins a new epoch: replay starts after it if the program restores it.

import type { TurnState } from '../../../../model/checkpoint.ts'
import { refuse } from '../../../../model/errors.ts'
import type { RunCheckpoint } from '../../../../model/run.ts'
import { findById } from '../../../reading/find-event.ts'
import { type Components, checkComponents, readComponents, readTurnState, stageComponents } from '../../checkpoints/components.ts'
import { never } from '../node/parking.ts'
import type { Entry } from '../tape/tape.ts'
import type { BuildChange } from '../writing/change.ts'
import type { RunWriter } from '../writing/run-writer.ts'
import type { BranchHandle } from './branch.ts'
import { type Asked, entryKey, slotOf } from './call.ts'
import { refuseNested } from './effect-work.ts'
import { leaveWaits } from './wait.ts'

export interface Saved {
  /** The number of the epoch that the checkpoint began. */
  readonly epoch: number
}

export interface Restored {
  readonly components: Readonly<Record<string, unknown>>
  readonly turn: TurnState
}

const NAME = 'checkpoint'

/** Saves a checkpoint, once. Replay passes a recorded one without storing anything. */
export async function saveCheckpoint(root: BranchHandle, components: Components, turn?: TurnState): Promise<Saved> {
  const { open } = root
  refuseNested(root, NAME)
  checkComponents(open.scope, components, turn)
  // The program runs without this branch under replay.
  if (open.replay.isLost(root.here().place)) return never()
  open.slots.checkSettled(open.about)
  open.slots.asks()
  const { epoch, refused } = open.slots
  // An epoch has one checkpoint, so one that failed leaves no gap.
  const asked: Asked = { ...slotOf({ branch: '', name: NAME, ordinal: refused + 1, epoch }), kind: 'checkpoint' }
  // Looked at when the program asks: replay answers the open calls sooner, and must refuse what was refused before.
  const calls = open.calls.list((place) => open.replay.isLost(place))
  if (calls.length > 0) {
    const recorded = await find(open, asked)
    if (recorded) return passed(root, recorded)
    open.slots.refused++
    throw refuse('CHECKPOINT_BUSY', { ...open.about, open: calls.join(', ') })
  }
  return during(open, 'saving', async () => {
    const recorded = await find(open, asked)
    if (recorded) return passed(root, recorded)
    const saved = passed(root, await open.once(entryKey(asked), () => write(root, asked, components, turn)))
    await leaveWaits(open)
    return saved
  })
}

async function during<T>({ slots }: RunWriter, underway: 'saving' | 'restoring', call: () => Promise<T>): Promise<T> {
  slots.underway = underway
  try {
    return await call()
  } finally {
    slots.underway = undefined
  }
}

async function find(open: RunWriter, asked: Asked): Promise<Entry | undefined> {
  await open.ready()
  return open.replay.find(asked)
}

function passed(root: BranchHandle, entry: Entry): Saved {
  const epoch = (entry.epoch ?? 0) + 1
  root.received(entry)
  root.startEpoch(epoch, entry.outcome?.now as number)
  return { epoch }
}

async function write(root: BranchHandle, asked: Asked, components: Components, turn: TurnState | undefined): Promise<Entry> {
  const { open } = root
  const { scope } = open
  await open.replay.clear(asked)
  const at = scope.engine.environment.clock.now()
  const now = Math.max(root.now(), at)
  const build: BuildChange<void> = async (scope, round) => {
    const { manifest, ...content } = await stageComponents(scope, components, open.row.checkpoint?.manifest, round, turn)
    const command = { verb: 'checkpoint', id: open.id, slot: slotOf(asked), now, manifest } as const
    return { command, whole: true, shares: [content] }
  }
  await open.transact('checkpoint', build, { at })
  return { ...asked, seq: 0, at, done: true, outcome: { now } }
}

/** Returns the newest checkpoint, and lets replay start after it. Nothing may have been asked for before. */
export async function restoreCheckpoint(root: BranchHandle): Promise<Restored | undefined> {
  const { open } = root
  if (open.slots.hasAsked) throw refuse('RESTORE_LATE', open.about)
  open.slots.asks()
  return during(open, 'restoring', () => restored(root))
}

async function restored(root: BranchHandle): Promise<Restored | undefined> {
  const { open } = root
  await open.ready()
  const saved = open.row.checkpoint
  if (!saved) return undefined
  const [read, event] = await Promise.all([readCheckpoint(root, saved), findById(open.scope, saved.event)])
  const seq = event?.seq
  if (seq === undefined) throw refuse('CHECKPOINT_UNREADABLE', { why: 'its event is not in the journal' })
  open.tape.startAfter(saved.run ?? open.id, seq, saved.epoch)
  root.startEpoch(saved.epoch, saved.now)
  await leaveWaits(open)
  return read
}

async function readCheckpoint({ open: { scope } }: BranchHandle, { manifest }: RunCheckpoint): Promise<Restored> {
  if (!manifest) throw refuse('CHECKPOINT_UNREADABLE', { why: 'its payload was erased' })
  const [components, turn] = await Promise.all([readComponents(scope, manifest), readTurnState(scope, manifest)])
  return { components, turn }
}
