// Checkpoints of a run. A checkpoint stores named components and begins a new epoch: replay starts after it if the program restores it.

import type { TurnState } from '../../model/checkpoint.ts'
import { refuse } from '../../model/errors.ts'
import type { RunCheckpoint } from '../../model/run.ts'
import { type Components, checkComponents, readComponents, readTurnState, withComponents } from '../checkpoints/components.ts'
import { findById } from '../find-event.ts'
import { type Asked, entryKey, slotOf } from './asked.ts'
import { type BranchHandle, checkSettled } from './branch.ts'
import { refuseNested } from './effect-work.ts'
import { never } from './parking.ts'
import type { RunWriter } from './run-writer.ts'
import type { Entry } from './tape.ts'
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
  checkSettled(open)
  open.slots.asks()
  return during(open, 'saving', () => saved(root, components, turn))
}

async function during<T>({ slots }: RunWriter, underway: 'saving' | 'restoring', call: () => Promise<T>): Promise<T> {
  slots.underway = underway
  try {
    return await call()
  } finally {
    slots.underway = undefined
  }
}

async function saved(root: BranchHandle, components: Components, turn: TurnState | undefined): Promise<Saved> {
  const { open } = root
  // An epoch has one checkpoint, so a refused one leaves no gap.
  const asked: Asked = { ...slotOf({ branch: '', name: NAME, ordinal: 1, epoch: open.slots.epoch }), kind: 'checkpoint' }
  await open.ready()
  const before = await open.replay.find(asked)
  const entry = before ?? (await open.once(entryKey(asked), () => write(root, asked, components, turn)))
  root.received(entry)
  const epoch = (asked.epoch ?? 0) + 1
  root.startEpoch(epoch, entry.outcome?.now as number)
  if (!before) await leaveWaits(open)
  return { epoch }
}

async function write(root: BranchHandle, asked: Asked, components: Components, turn: TurnState | undefined): Promise<Entry> {
  const { open } = root
  const { scope } = open
  await open.replay.clear(asked)
  const calls = open.calls.list((place) => open.replay.isLost(place))
  if (calls.length > 0) throw refuse('CHECKPOINT_BUSY', { ...open.about, open: calls.join(', ') })
  const at = scope.engine.environment.clock.now()
  const now = Math.max(root.now(), at)
  await withComponents(
    scope,
    components,
    open.row.checkpoint?.manifest,
    ({ manifest, nodes, guards }) =>
      open.change({ verb: 'checkpoint', id: open.id, slot: slotOf(asked), now, manifest }, [], { at, guards, nodes, whole: true }),
    turn,
  )
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
