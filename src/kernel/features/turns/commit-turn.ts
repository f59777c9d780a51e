// `session.commitTurn`: everything that a turn leaves behind, in one commit. After a crash the turn is there completely, or not at all.

import { InkError, refuse } from '../../../model/errors.ts'
import type { TurnRow } from '../../../model/graph.ts'
import type { Id, SessionId } from '../../../model/ids.ts'
import { invalidOption } from '../../../model/options.ts'
import { checkRecord } from '../../../model/record-version.ts'
import type { TableName } from '../../../model/tables.ts'
import type { Guard } from '../../../ports/commit.ts'
import type { SessionView } from '../../feature.ts'
import { derivedId } from '../../naming/derived-id.ts'
import { headId, sessionLeaseId } from '../../naming/names.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { type DoneRow, NOT_THERE, type Part, part, plan, readRow } from '../../writing/execute.ts'
import { type Fence, fenceOf, writeUnder } from '../../writing/fence.ts'
import { conflictOrGone, retryConflicts } from '../../writing/retry-conflicts.ts'
import { lookAgain } from '../../writing/session-guard.ts'
import { commitParts } from '../attachments/attachments.ts'
import { type ManifestShare, withComponents } from '../checkpoints/components.ts'
import { planDelta } from '../graph/delta.ts'
import { checkExpected, readHead } from '../graph/head.ts'
import { head } from '../graph/head-decider.ts'
import { noteTitle, titleParts } from '../sessions/derive-title.ts'
import { usagePart } from '../usage/usage-decider.ts'
import { withValues } from '../values/staged.ts'
import { localNodesOf } from '../work/local-nodes.ts'
import { enqueueParts } from './enqueue.ts'
import { settleTurn } from './settle-turn.ts'
import { turn as decider } from './turn-decider.ts'
import { turnDigest } from './turn-digest.ts'
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

/** Another writer may be first at these; then everything is read and checked again. */
const CONFLICTS: readonly TableName[] = [
  ...([
    'turns',
    'sessions',
    'session_heads',
    'graph_nodes',
    'inbox',
    'inputs',
    'runs',
    'usage',
    'attachments',
    'threads',
    'messages',
  ] as const),
]

export async function commitTurn(view: SessionView, options: TurnOptions): Promise<CommittedTurn> {
  const { scope, id: session } = view
  checkOpen(scope.engine)
  const taken = takeTurn(scope, options)
  const digest = await turnDigest(scope, taken)
  const done = await retryConflicts(scope, conflictOrGone(...CONFLICTS), () => attempt(view, taken, digest))
  if (taken.enqueue.length > 0) localNodesOf(scope.engine).wake()
  return shown(done.row, session, done.repeated)
}

/** The receipt comes first. A refusal may be caused by the same turn that another caller has just committed, so it is looked for again. */
async function attempt(view: SessionView, taken: TakenTurn, digest: string): Promise<TurnOutcome> {
  const known = await findReceipt(view, taken, digest)
  if (known) return known
  try {
    return await checkAndWrite(view, taken, digest)
  } catch (error) {
    const written = error instanceof InkError && error.code !== 'OUTCOME_UNKNOWN' ? await findReceipt(view, taken, digest) : undefined
    if (written) return written
    throw error
  }
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

/** The checks come in this order: session, fence, claims and inputs, head, nodes, attachments, messages. */
async function checkAndWrite(view: SessionView, taken: TakenTurn, digest: string): Promise<TurnOutcome> {
  const { scope, id: session } = view
  await lookAgain(scope, session)
  // A retry may have lost the lease with its process: it has found its receipt before.
  if (taken.release && taken.lease === undefined) throw invalidOption('release', 'true only with `lease`, the lease to release')
  const fence = taken.lease === undefined ? undefined : await liveFence(scope, session, taken.lease)
  const settled = await settleTurn(scope, session, taken, fence?.run?.id)
  const { head: row, ...seen } = await readHead(scope, session)
  checkExpected(session, taken.expectedHead, row.revision)
  const delta = await planDelta(scope, session, row, { kind: taken.delta, nodes: taken.nodes, leaf: taken.leaf }, taken.turn)
  const files = await commitParts(scope, session, taken.attachments, taken.turn)
  const said = taken.messages.length === 0 ? undefined : await turnMessages(scope, session, taken)
  const releasing = taken.release ? fence?.release : undefined
  if (taken.release && fence && !releasing) throw invalidOption('release', 'a session lease as `lease`: a run gives its own lease back')
  const first = row.first === undefined ? (delta.firstText ?? said?.first) : undefined
  const id = turnId(scope, session, taken.turn)
  const run = fence?.run?.id
  const at = scope.engine.environment.clock.now()
  const rest: readonly Part[] = [
    ...settled.parts,
    ...files,
    ...taken.usage.map((used) => usagePart(scope, session, run, used, at)),
    ...(await enqueueParts(scope, session, taken.enqueue)),
    ...(releasing ? [releasing.part] : []),
    ...titleParts(view, first),
  ]
  const set = {
    turn: taken.turn,
    digest,
    revision: delta.move.revision,
    ...(delta.move.leaf && { leaf: delta.move.leaf }),
    nodes: taken.nodes.length,
    ...(taken.interrupted && { interrupted: true }),
    ...(settled.deferred.length > 0 && { deferred: settled.deferred }),
  }
  const guards: readonly Guard[] = [...(fence ? [fence.guard] : []), ...settled.guards]
  const commit = (checkpoint: ManifestShare | null | undefined) =>
    withValues(scope, delta.large, ({ refs, nodes, guards: present }) => {
      const manifest = checkpoint ? checkpoint.manifest : checkpoint
      const to = {
        ...delta.move,
        ...summed(row, delta.move, said),
        turns: row.turns + 1,
        turn: taken.turn,
        ...(manifest !== undefined && { checkpoint: manifest }),
      }
      // The receipt comes first, so that a retry is recognised before anything else.
      const parts = [
        part(decider, id, { verb: 'commit', set }, { session, ...(run && { run }), seen: NOT_THERE, whole: true }),
        part(head, headId(scope, session), { verb: 'move', to }, { session, seen, whole: true }),
        ...(said?.parts ?? []),
        ...delta.parts(refs),
        ...rest,
      ] as const
      return plan(scope, parts, {
        at,
        open: session,
        once: true,
        nodes: [...nodes, ...(checkpoint?.nodes ?? []), ...(said?.nodes ?? [])],
        guards: [...guards, ...delta.guards, ...present, ...(checkpoint?.guards ?? []), ...(said?.guards ?? [])],
      })
    })
  const { checkpoint } = taken
  const writing = checkpoint ? withComponents(scope, checkpoint, row.checkpoint, commit) : commit(checkpoint)
  const { rows } = await (fence ? writeUnder(fence, writing) : writing)
  releasing?.done()
  // The receipt and the head stand before the messages.
  if (said) said.learn(rows.slice(2, 2 + said.parts.length))
  noteTitle(view, rows.at(-1), first)
  return { row: rows[0].body as TurnRow, repeated: false }
}

export const turnId = (scope: Scope, session: SessionId, turn: string): Id<'turn'> =>
  derivedId<'turn'>(scope, `turn/${scope.tenant}/${session}/${turn}`)

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
  const row = await scope.engine.backend.rows.get(scope.tenant, guard.table, guard.id)
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
