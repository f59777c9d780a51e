// `session.commitTurn`: everything that a turn leaves behind, in one commit. After a crash the turn is there completely, or not at all.

import { InkError, refuse } from '../../../model/errors.ts'
import type { TurnRow } from '../../../model/graph.ts'
import type { SessionId } from '../../../model/ids.ts'
import { invalidOption } from '../../../model/options.ts'
import { checkRecord } from '../../../model/record-version.ts'
import type { Guard } from '../../../ports/commit.ts'
import type { SessionView } from '../../feature.ts'
import { headId, sessionLeaseId } from '../../naming/names.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { type Fence, fenceOf } from '../../writing/fence.ts'
import { type DoneRow, NOT_THERE, type Part, part, readRow, readStored } from '../../writing/part.ts'
import { lookAgain } from '../../writing/session-guard.ts'
import { type Build, type Round, type Shares, transact } from '../../writing/transact.ts'
import { commitParts } from '../attachments/attachments.ts'
import { stageComponents } from '../checkpoints/components.ts'
import { planDelta } from '../graph/delta.ts'
import { checkExpected, readHead } from '../graph/head.ts'
import { head } from '../graph/head-decider.ts'
import { titleShare } from '../sessions/derive-title.ts'
import { usagePart } from '../usage/usage-decider.ts'
import { stageValues } from '../values/staged.ts'
import { localNodesOf } from '../work/local-nodes.ts'
import { enqueueParts } from './enqueue.ts'
import { readTurnAhead } from './read-turn-ahead.ts'
import { type InHand, settleTurn } from './settle-turn.ts'
import { turn as decider } from './turn-decider.ts'
import { turnDigest } from './turn-digest.ts'
import { turnId } from './turn-id.ts'
import { summed, turnMessages } from './turn-messages.ts'
import { type TakenTurn, type TurnOptions, takeTurn } from './turn-options.ts'

/** The receipt of a turn. */
export interface CommittedTurn {
  readonly turn: string
  /** The revision of the head after the turn: the next `expectedHead`. */
  readonly revision: number
  readonly leaf?: string
  /** Number of nodes that the turn wrote. */
  readonly nodes: number
  /** Inputs that an interrupted turn left to the next one. */
  readonly deferred: readonly string[]
  /** The turn was committed before: this is its first receipt again. */
  readonly repeated: boolean
}

export async function commitTurn(view: SessionView, options: TurnOptions): Promise<CommittedTurn> {
  const { scope, id: session } = view
  checkOpen(scope.engine)
  const taken = takeTurn(scope, options)
  const digest = await turnDigest(scope, taken)
  const at = scope.engine.environment.clock.now()
  let fence: Fence | undefined
  const build: Build<TurnOutcome> = async (scope, round) => {
    const held = readTurnAhead(scope, session, taken, at)
    const known = await findReceipt({ ...view, scope }, taken, digest)
    if (known) return { committed: () => known }
    await lookAgain(scope, session)
    // A retry may have lost the lease with its process: it has found its receipt before.
    if (taken.release && taken.lease === undefined) throw invalidOption('release', 'true only with `lease`, the lease to release')
    fence = taken.lease === undefined ? undefined : await liveFence(scope, session, taken.lease)
    return turnShares({ ...view, scope }, taken, { digest, at, fence, held, round })
  }
  const done = await transact(scope, build, { at, open: session }).catch((error: unknown) => {
    if (error instanceof InkError && error.code === 'FENCE_LOST') fence?.lost(error)
    return orReceipt(view, taken, digest, error)
  })
  if (taken.enqueue.length > 0) localNodesOf(scope.engine).wake()
  return shown(done.row, session, done.repeated)
}

/** A refusal may be caused by the same turn that another caller has just committed, so its receipt is looked for. */
async function orReceipt(view: SessionView, taken: TakenTurn, digest: string, error: unknown): Promise<TurnOutcome> {
  const written = error instanceof InkError && error.code !== 'OUTCOME_UNKNOWN' ? await findReceipt(view, taken, digest) : undefined
  if (written) return written
  throw error
}

interface TurnOutcome {
  readonly row: TurnRow
  readonly repeated: boolean
}

async function findReceipt({ scope, id: session }: SessionView, { turn }: TakenTurn, digest: string): Promise<TurnOutcome | undefined> {
  const { body } = await readTurn(scope, session, turn)
  if (!body) return undefined
  if (body.digest === digest) return { row: body, repeated: true }
  throw refuse('TURN_REUSED', { session, turn, revision: body.revision })
}

interface Turning {
  readonly digest: string
  readonly at: number
  readonly fence: Fence | undefined
  readonly held: InHand | undefined
  readonly round: Round
}

/** After receipt, session and fence, the checks come in this order: claims and inputs, head, nodes, attachments, messages. */
async function turnShares(view: SessionView, taken: TakenTurn, { digest, at, fence, held, round }: Turning): Promise<Shares<TurnOutcome>> {
  const { scope, id: session } = view
  const settled = await settleTurn(scope, session, taken, fence?.run?.id, held)
  const { head: row, ...seen } = await readHead(scope, session)
  checkExpected(session, taken.expectedHead, row.revision)
  const delta = await planDelta(scope, session, row, { kind: taken.delta, nodes: taken.nodes, leaf: taken.leaf }, taken.turn)
  const files = await commitParts(scope, session, taken.attachments, taken.turn)
  const said = taken.messages.length === 0 ? undefined : await turnMessages(scope, session, taken)
  const releasing = taken.release ? fence?.release : undefined
  if (taken.release && fence && !releasing) throw invalidOption('release', 'a session lease as `lease`: a run gives its own lease back')
  const enqueued = await enqueueParts(scope, session, taken.enqueue)
  const { checkpoint } = taken
  const saved = checkpoint ? await stageComponents(scope, checkpoint, row.checkpoint, round) : undefined
  const { refs, ...content } = await stageValues(scope, delta.large, round)
  const manifest = checkpoint === null ? null : saved?.manifest
  const first = row.first === undefined ? (delta.firstText ?? said?.first) : undefined
  const run = fence?.run?.id
  const to = {
    ...delta.move,
    ...summed(row, delta.move, said),
    turns: row.turns + 1,
    turn: taken.turn,
    ...(manifest !== undefined && { checkpoint: manifest }),
  }
  const set = {
    turn: taken.turn,
    digest,
    revision: delta.move.revision,
    ...(delta.move.leaf && { leaf: delta.move.leaf }),
    nodes: taken.nodes.length,
    ...(taken.interrupted && { interrupted: true }),
    ...(settled.deferred.length > 0 && { deferred: settled.deferred }),
  }
  // The receipt comes first, so that a retry is recognised before anything else.
  const receipt = part(
    decider,
    turnId(scope, session, taken.turn),
    { verb: 'commit', set },
    { session, ...(run && { run }), seen: NOT_THERE, whole: true },
  )
  const moved = part(head, headId(scope, session), { verb: 'move', to }, { session, seen, whole: true })
  const rest: readonly Part[] = [
    ...delta.parts(refs),
    ...settled.parts,
    ...files,
    ...taken.usage.map((used) => usagePart(scope, session, run, used, at)),
    ...enqueued,
    ...(releasing ? [releasing.part] : []),
  ]
  const guards: readonly Guard[] = [...(fence ? [fence.guard] : []), ...settled.guards, ...delta.guards]
  return [
    { parts: [receipt, moved], guards, committed: ([row]) => ({ row: row?.body as TurnRow, repeated: false }) },
    ...(said ? [said] : []),
    { parts: rest, committed: () => releasing?.done() },
    titleShare(view, first),
    ...(saved ? [saved] : []),
    content,
  ]
}

async function readTurn(scope: Scope, session: SessionId, turn: string): Promise<DoneRow<TurnRow>> {
  const found = await readRow(scope, 'turns', turnId(scope, session, turn))
  if (found.body) checkRecord(found.body, { record: 'turn', id: turn })
  return found
}

/** Asks the store too: a holder that was paused does not know yet that it lost its lease. */
async function liveFence(scope: Scope, session: SessionId, lease: unknown): Promise<Fence> {
  const fence = fenceOf(scope, session, lease)
  const { guard } = fence
  if (!fence.run && guard.table === 'leases' && guard.id !== sessionLeaseId(scope, session))
    throw invalidOption('lease', 'the lease of this session, or a run of it')
  const row = await readStored(scope, guard.table, guard.id)
  if (row?.fence === guard.fence) return fence
  const error = refuse('FENCE_LOST', { table: guard.table, id: guard.id, fence: guard.fence, found: row?.fence ?? 0 })
  scope.engine.audit.note(scope.tenant, scope.actor, error)
  fence.lost(error)
  throw error
}

function shown(row: TurnRow, session: SessionId, repeated: boolean): CommittedTurn {
  checkRecord(row, { record: 'turn', id: session })
  const { turn, revision, leaf, nodes, deferred = [] } = row
  return { turn, revision, ...(leaf !== undefined && { leaf }), nodes, deferred, repeated }
}
