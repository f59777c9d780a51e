// The inbox claims and inputs that a turn has in hand, and how its commit settles them.

import { refuse } from '../../../model/errors.ts'
import type { RunId, SessionId } from '../../../model/ids.ts'
import type { ClaimId, InboxRow } from '../../../model/inbox.ts'
import type { InputRow } from '../../../model/input.ts'
import { decodeBody, type TableRow } from '../../../model/rows.ts'
import type { Guard } from '../../../ports/commit.ts'
import { everyRow } from '../../reading/every-row.ts'
import type { Scope } from '../../wiring/scope.ts'
import { type Part, part, readRow } from '../../writing/part.ts'
import { inbox } from '../inputs/inbox-decider.ts'
import { input } from '../inputs/input-decider.ts'
import type { TakenTurn } from './turn-options.ts'

export interface Settlement {
  readonly parts: readonly Part[]
  /** The runs must not take more meanwhile. */
  readonly guards: readonly Guard[]
  /** Inputs that wait for the next turn. */
  readonly deferred: readonly string[]
}

const NOTHING: Settlement = { parts: [], guards: [], deferred: [] }
const PAGE = 128

interface Held<Row> {
  readonly row: Row
  readonly revision: number
}

/** Claimed items of the inbox, and accepted inputs. */
export type InHand = Promise<readonly [readonly Held<InboxRow>[], readonly Held<InputRow>[]]>

export const readInHand = (scope: Scope, session: SessionId): InHand =>
  Promise.all([heldRows(scope, 'inbox', session, 'claimed'), heldRows(scope, 'inputs', session, 'accepted')])

/**
 * Checks that the turn names exactly what it has in hand. A run that is given as the lease is the turn; otherwise the run that took the named
 * claims and inputs is. A caller that names neither, and gives no run, leaves them to the end of the run.
 */
export async function settleTurn(
  scope: Scope,
  session: SessionId,
  taken: TakenTurn,
  given: RunId | undefined,
  held: InHand | undefined,
): Promise<Settlement> {
  const { claims = [], inputs = [], interrupted } = taken
  if (!given && !taken.claims && !taken.inputs && !interrupted) return NOTHING
  const [claimed, accepted] = await (held ?? readInHand(scope, session))
  const run = given ?? holderOf(claims, inputs, claimed, accepted)
  const mine = <Row>(rows: readonly Held<Row>[], of: (row: Row) => RunId | undefined) =>
    run === undefined ? rows : rows.filter(({ row }) => of(row) === run)
  const myItems = mine(claimed, (row) => row.claim?.run)
  const myInputs = mine(accepted, (row) => row.run)
  for (const claim of claims) if (!myItems.some(({ row }) => row.claim?.id === claim)) throw notHeld(claim, claimed, run)
  for (const id of inputs) if (!myInputs.some(({ row }) => row.id === id)) throw await inputNotHeld(scope, session, id, run)
  const unused = myInputs.filter(({ row }) => !inputs.includes(row.id))
  const left = [
    ...new Set(myItems.flatMap(({ row }) => (claims.includes(row.claim?.id as string) ? [] : [`claim ${row.claim?.id}`]))),
    ...(interrupted ? [] : unused.map(({ row }) => `input ${row.id}`)),
  ]
  if (left.length > 0) throw refuse('TURN_UNSETTLED', { session, left })
  const waiting = interrupted ? mine(await heldRows(scope, 'inputs', session, 'pending'), (row) => row.run) : []
  const used = myInputs.filter(({ row }) => inputs.includes(row.id))
  const deferred = interrupted ? [...unused, ...waiting] : []
  const holders = new Set([...myItems.map(({ row }) => row.claim?.run), ...[...used, ...deferred].map(({ row }) => row.run)])
  return {
    parts: [
      ...myItems.map((one) => completePart(session, one)),
      ...used.map((one) => endPart(session, one, 'done')),
      ...deferred.map((one) => endPart(session, one, 'failed')),
    ],
    guards: await Promise.all([...holders].flatMap((id) => (id ? [runGuard(scope, id)] : []))),
    deferred: deferred.map(({ row }) => row.id),
  }
}

const completePart = (session: SessionId, { row, revision }: Held<InboxRow>): Part => {
  const { id, claim } = row
  const run = claim?.run as RunId
  return part(inbox, id, { verb: 'complete', id, claim: claim?.id as ClaimId, run }, { session, run, seen: { body: row, revision } })
}

const endPart = (session: SessionId, { row, revision }: Held<InputRow>, how: 'done' | 'failed'): Part => {
  const run = row.run as RunId
  return part(input, row.id, { verb: 'end', run, how }, { session, run, seen: { body: row, revision } })
}

async function runGuard(scope: Scope, id: RunId): Promise<Guard> {
  return { kind: 'row', table: 'runs', id, revision: (await readRow(scope, 'runs', id)).revision }
}

/** The run that took the first named claim or input. */
const holderOf = (
  claims: readonly string[],
  inputs: readonly string[],
  claimed: readonly Held<InboxRow>[],
  accepted: readonly Held<InputRow>[],
): RunId | undefined =>
  claimed.find(({ row }) => claims.includes(row.claim?.id as string))?.row.claim?.run ??
  accepted.find(({ row }) => inputs.includes(row.id))?.row.run

function notHeld(claim: string, claimed: readonly Held<InboxRow>[], run: RunId | undefined) {
  const other = claimed.find(({ row }) => row.claim?.id === claim)?.row.claim?.run
  const why = other === undefined ? 'no run of the session holds it' : `run ${other} holds it, and the turn is run ${run}`
  return refuse('TURN_CLAIM_NOT_HELD', { claim, why, ...(other && { holder: other }) })
}

async function inputNotHeld(scope: Scope, session: SessionId, id: string, run: RunId | undefined) {
  const { body } = await readRow(scope, 'inputs', id)
  const known = body?.session === session ? body : undefined
  const why = !known
    ? 'the session has no such input'
    : known.state === 'accepted'
      ? `run ${known.run} took it, and the turn is run ${run}`
      : `it is ${known.state}`
  return refuse('TURN_INPUT_NOT_HELD', { input: id, why })
}

async function heldRows(scope: Scope, table: 'inbox', session: SessionId, state: 'claimed'): Promise<readonly Held<InboxRow>[]>
async function heldRows(
  scope: Scope,
  table: 'inputs',
  session: SessionId,
  state: 'accepted' | 'pending',
): Promise<readonly Held<InputRow>[]>
async function heldRows(scope: Scope, table: 'inbox' | 'inputs', session: SessionId, state: string): Promise<readonly Held<object>[]> {
  const rows: Held<object>[] = []
  const range = { index: 'bySessionAndState', equals: [session, state], limit: PAGE }
  for await (const { body, revision } of everyRow(scope, table, range) as AsyncIterable<TableRow<'inbox' | 'inputs'>>)
    rows.push({ row: decodeBody(body), revision })
  return rows
}
