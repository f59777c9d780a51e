// A run takes inputs: the inputs and the entry on its tape are one commit under its fence. Replay therefore sees the same inputs, and no
// input is taken twice.

import { utf8Length } from '../../../model/bytes.ts'
import type { RunId } from '../../../model/ids.ts'
import { INPUT_BOUNDARIES, type InputBoundary, type InputId, type InputRow } from '../../../model/input.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { decodeBody } from '../../../model/rows.ts'
import type { Stored } from '../../../model/run.ts'
import type { Guard } from '../../../ports/commit.ts'
import { isUnmasked, load } from '../../content/json-or-blob.ts'
import { everyRow } from '../../reading/every-row.ts'
import { part } from '../../writing/part.ts'
import type { BranchHandle } from '../runs/program/branch.ts'
import { type Asked, slotOf } from '../runs/program/call.ts'
import { NEXT } from '../runs/run-decider.ts'
import type { Entry } from '../runs/tape/tape.ts'
import type { BuildChange } from '../runs/writing/change.ts'
import type { RunWriter } from '../runs/writing/run-writer.ts'
import { input } from './input-decider.ts'
import { hasDied } from './live-turn.ts'

export interface TakeInputsOptions {
  /** The place of the call in the turn: after some work (the default), or before the turn ends, where all inputs are admitted. */
  readonly boundary?: InputBoundary
  /** `active`: inputs for this run (the default). `next`: inputs for the next turn, which this run then is. */
  readonly from?: 'active' | 'next'
  /** The largest number of inputs. The default and the limit are 64. */
  readonly most?: number
}

/** An input as the run that took it sees it. It is the same under replay. */
export interface TakenInput extends Pick<InputRow, 'id' | 'boundary' | 'key' | 'by' | 'offeredAt'> {
  readonly content: unknown
  /** Another turn had taken it, or was to take it, and died. */
  readonly redriven?: true
}

type Kept = Omit<TakenInput, 'content'> & { readonly content?: Stored | undefined }

interface Wanted {
  readonly boundary: InputBoundary
  readonly from: 'active' | 'next'
  readonly most: number
}

export async function takeInputs(branch: BranchHandle, options: TakeInputsOptions | undefined): Promise<readonly TakenInput[]> {
  const { boundary = 'afterWork', from = 'active', most = limits.takenAtOnce, ...unknown } = optionsOf(options, 'inputs')
  checkKnown(unknown, 'inputs')
  if (!INPUT_BOUNDARIES.includes(boundary)) throw invalidOption('boundary', "'afterWork' or 'beforeCompletion'", boundary)
  if (from !== 'active' && from !== 'next') throw invalidOption('from', "'active' or 'next'", from)
  checkMost(most)
  const entry = await branch.asks('inputs', from === 'next' ? NEXT : boundary, (asked) =>
    take(branch.open, asked, { boundary, from, most }),
  )
  const { inputs = [] } = (entry.outcome ?? {}) as { readonly inputs?: readonly Kept[] }
  return Promise.all(inputs.map(async ({ content, ...kept }) => ({ ...kept, content: await load(branch.open.scope, content) })))
}

export function checkMost(most: unknown): asserts most is number {
  if (!Number.isInteger(most) || (most as number) < 1 || (most as number) > limits.takenAtOnce)
    throw invalidOption('most', `an integer from 1 to ${limits.takenAtOnce}`, most)
}

async function take(open: RunWriter, asked: Asked, wanted: Wanted): Promise<Entry> {
  const about = { session: open.row.session, run: open.id }
  const at = open.scope.engine.environment.clock.now()
  // An input may be taken back meanwhile, and another node may go on with a run that was dead.
  const build: BuildChange<Entry> = async () => {
    const heardNow = await heard(open, wanted)
    const accept = heardNow.map(({ kept: { id }, from }) => part(input, id, { verb: 'accept', id, run: open.id, from: from?.run }, about))
    const outcome = { inputs: heardNow.map(({ kept }) => kept) }
    const whole = heardNow.some(({ kept: { content } }) => isUnmasked(content))
    const entry = { ...asked, seq: 0, at, done: true, outcome }
    return {
      command: { verb: 'take', id: open.id, slot: slotOf(asked), kind: 'inputs', outcome },
      whole,
      shares: [{ parts: accept, guards: guardsOf(heardNow), committed: () => entry }],
    }
  }
  return open.transact('take', build, { at })
}

interface Heard {
  readonly kept: Kept
  readonly from?: Dead | undefined
}

/** The run that died with the input, and the revision at which it was found dead. */
interface Dead {
  readonly run: RunId
  readonly revision: number
}

/** Guards against a dead run that goes on after all: taking it up moves its row. */
const guardsOf = (heard: readonly Heard[]): readonly Guard[] =>
  [...new Map(heard.flatMap(({ from }) => (from ? [[from.run, from.revision]] : [])))].map(([id, revision]) => ({
    kind: 'row',
    table: 'runs',
    id,
    revision,
  }))

/** The inputs that the run may take now, in the order of offering. */
async function heard(open: RunWriter, { boundary, from, most }: Wanted): Promise<readonly Heard[]> {
  const { session, parallel } = open.row
  if (from === 'active') {
    const said = inputsOf(open, { index: 'byRun', equals: [open.id, 'pending'] })
    return asMany(said, most, ({ row }) => boundary === 'beforeCompletion' || row.boundary !== 'beforeCompletion')
  }
  // A parallel run is not the next turn of its session.
  if (parallel) return []
  // Other callers may have added inputs since the run last read its row.
  await open.refresh()
  const room = Math.min(most, limits.runInputs - (open.row.prompted ?? 0))
  const left = await leftBehind(open)
  return asMany(inOrder(left, inputsOf(open, { index: 'bySessionAndState', equals: [session, 'deferred'] })), room)
}

interface Said {
  readonly row: InputRow
  /** Its position in the order of offering. */
  readonly born: number
  readonly from?: Dead
}

async function asMany(said: AsyncIterable<Said>, room: number, isAdmitted: (one: Said) => boolean = () => true): Promise<readonly Heard[]> {
  const kept: Heard[] = []
  let bytes = 0
  if (room <= 0) return kept
  for await (const one of said) {
    if (!isAdmitted(one)) continue
    const { state: _, session: __, run: ___, acceptedAt: ____, endedAt: _____, ...rest } = one.row
    bytes += utf8Length(JSON.stringify(rest.content ?? {}))
    // The first input is taken at any size.
    if (kept.length > 0 && bytes > limits.takenBytes) return kept
    kept.push({ kept: { ...rest, ...(one.from !== undefined && { redriven: true }) }, from: one.from })
    if (kept.length === room) return kept
  }
  return kept
}

/** Inputs that dead turns of the session had taken or were to take. They come together with those that wait for the next turn. */
async function leftBehind(open: RunWriter): Promise<readonly Said[]> {
  const { scope, row } = open
  const left: Said[] = []
  const running = { index: 'bySessionAndState', equals: [row.session, 'running'], limit: PAGE }
  for await (const { id, revision, body } of everyRow(scope, 'runs', running)) {
    const other = decodeBody(body, { id })
    if (id === open.id || !other.prompted || !hasDied(scope, other)) continue
    for (const state of ['accepted', 'pending'] as const)
      for await (const one of inputsOf(open, { index: 'byRun', equals: [id, state] }))
        left.push({ ...one, from: { run: id as RunId, revision } })
  }
  return left.sort((a, b) => a.born - b.born)
}

/** Merges both lists in order. An input in both was deferred in between, and comes once, as it was found last. */
async function* inOrder(first: readonly Said[], second: AsyncIterable<Said>): AsyncGenerator<Said, void, undefined> {
  const told = new Set<InputId>()
  let next = 0
  const fresh = (one: Said) => !told.has(one.row.id) && told.add(one.row.id)
  for await (const one of second) {
    for (let before = first[next]; before && before.born < one.born; before = first[++next]) if (fresh(before)) yield before
    if (fresh(one)) yield one
  }
  for (const one of first.slice(next)) if (fresh(one)) yield one
}

async function* inputsOf(
  { scope }: RunWriter,
  range: { readonly index: string; readonly equals: readonly string[] },
): AsyncGenerator<Said, void, undefined> {
  for await (const { id, born, body } of everyRow(scope, 'inputs', { ...range, limit: PAGE }))
    yield { row: { ...decodeBody(body, { id }), id: id as InputId }, born }
}

const PAGE = 128
