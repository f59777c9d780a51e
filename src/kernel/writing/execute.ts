// Read, decide, commit; when another writer was first, read and decide again. Several rows that change together are one plan and so
// one commit.

import { assert, type InkError, refuse } from '../../model/errors.ts'
import type { EventDraft, Receipt } from '../../model/event.ts'
import type { EventId, Id, RunId, SessionId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { ownMembers } from '../../model/options.ts'
import type { RowOf } from '../../model/row-types.ts'
import { type Body, decodeBody } from '../../model/rows.ts'
import type { TableName } from '../../model/tables.ts'
import type { ValueNode } from '../../model/value.ts'
import type { Change, Commit, CommitKey, Guard } from '../../ports/commit.ts'
import { putFreshAgain } from '../content/blobs.ts'
import { factGuards } from '../content/references.ts'
import { WriteTime } from '../measuring/write-time.ts'
import { erasedName } from '../naming/erased-names.ts'
import { checkOpen, type Scope } from '../wiring/scope.ts'
import { refusalOf } from './commit-outcome.ts'
import type { AnyDecider, Command, Decider, Decision, Fact, Happened } from './decider.ts'
import { admit, admitPayload, commitKey, draftEvent } from './draft.ts'
import { foldFact } from './fold.ts'
import { Patience, pause } from './retry-conflicts.ts'
import { lookAgain, openGuard } from './session-guard.ts'

/** One row's share of a plan: which decider decides, and on what command. */
export interface Part<Row extends object = object> {
  readonly decider: AnyDecider
  readonly id: Id
  readonly command: Command
  readonly session?: SessionId
  readonly run?: RunId
  readonly cause?: EventId
  /** The row as the caller last saw it, so that the plan need not read it. A function is called when the plan holds the row's mutex. */
  readonly seen?: DoneRow<Row> | (() => DoneRow<Row>)
  /** The facts are not masked: the values in them are masked already, or their writer wants them whole. */
  readonly whole?: boolean | undefined
  /** Must hold for the commit: the content exists that the facts refer to. */
  readonly guards?: readonly Guard[] | undefined
  /** The facts repeat earlier ones, for a fork. What these refer to may be gone since. */
  readonly copied?: boolean | undefined
}

export const part = <Row extends object, C extends Command>(
  decider: Decider<Row, C>,
  id: Id,
  command: C,
  about: Pick<Part<NoInfer<Row>>, 'session' | 'run' | 'cause' | 'seen' | 'whole' | 'guards' | 'copied'> = {},
): Part<Row> => ownMembers({ decider, id, command, ...about })

export interface PlanOptions {
  readonly key?: string
  /** The scope in which the key is unique: the verb and its object. */
  readonly within?: string
  /** The value that must match when the key is used again. The default is all commands. */
  readonly body?: unknown
  readonly guards?: readonly Guard[]
  /** Nodes of values that the facts refer to. */
  readonly nodes?: readonly ValueNode[]
  /** The time of the events. The default is the clock's. */
  readonly at?: number
  /** The commit is refused unless this session is open. */
  readonly open?: SessionId
  /** The plan is not retried: a row that has changed since it was seen is a CONFLICT at once. */
  readonly once?: boolean
  /** Began with the call. The default begins with the plan. */
  readonly time?: WriteTime
}

export interface Done<Parts extends readonly Part[] = readonly Part[]> {
  readonly receipts: readonly Receipt[]
  readonly repeated: boolean
  /** The rows as this commit left them, one per part. */
  readonly rows: RowsOf<Parts>
}

type RowsOf<Parts extends readonly Part[]> = {
  readonly [I in keyof Parts]: Parts[I] extends Part<infer Row> ? DoneRow<Row> : never
}

/** A row as it was read, or as a commit left it. `body` is undefined where there is no row. */
export interface DoneRow<Row extends object = object> {
  readonly body: Row | undefined
  readonly revision: number
}

/** A row that cannot exist yet, because its id is new. */
export const NOT_THERE: DoneRow<never> = { body: undefined, revision: 0 }

export async function execute<Row extends object, C extends Command>(
  scope: Scope,
  decider: Decider<Row, C>,
  id: Id,
  command: C,
  options: PlanOptions & Pick<Part, 'session' | 'run' | 'cause'> = {},
): Promise<{
  readonly row: Row | undefined
  readonly revision: number
  readonly receipts: readonly Receipt[]
  readonly repeated: boolean
}> {
  const { session, run, cause, ...rest } = options
  const about = { ...(session && { session }), ...(run && { run }), ...(cause && { cause }) }
  const { rows, receipts, repeated } = await plan(scope, [part(decider, id, command, about)], rest)
  return { row: rows[0].body, revision: rows[0].revision, receipts, repeated }
}

/** Decides all parts and commits them together. Retries when another writer changed one of the rows in between. */
export async function plan<const Parts extends readonly Part[]>(
  scope: Scope,
  parts: Parts,
  options: PlanOptions = {},
): Promise<Done<Parts>> {
  checkOpen(scope.engine)
  options.time?.waited()
  const time = options.time ?? new WriteTime(scope.engine.environment.clock)
  const subjects = [...new Set(parts.map((p) => `${scope.tenant}/${p.decider.table}/${p.id}`))]
  assert(subjects.length === parts.length, 'no two parts of a plan change the same row')
  const key =
    options.key === undefined
      ? undefined
      : commitKey(scope, options.within ?? 'plan', options.key, options.body ?? parts.map((p) => admit(scope, p.command)))
  if (key) time.masked()
  const end = await scope.engine.rowMutex.take(subjects)
  try {
    return (await decideAndCommit(scope, parts, options, key, time)) as Done<Parts>
  } finally {
    end()
  }
}

async function decideAndCommit(
  scope: Scope,
  parts: readonly Part[],
  options: PlanOptions,
  key: CommitKey | undefined,
  time: WriteTime,
): Promise<Done> {
  const patience = new Patience(scope)
  for (let attempt = 1; ; attempt++) {
    // The first attempt trusts the rows that the caller has seen. The guards refuse it when they have changed, and then they are read.
    const rows = parts.map((p) => (attempt === 1 && p.seen ? seenOf(p.seen) : readRow(scope, p.decider.table, p.id)))
    const before = rows.some((row) => row instanceof Promise) ? await Promise.all(rows) : (rows as readonly DoneRow[])
    let merged: Merged
    time.waited()
    try {
      merged = merge(scope, parts, before, key, time, options.at)
    } catch (refusal) {
      // A retry must find its receipt, not a refusal caused by its own first success.
      const first = key && (await findEarlier(scope, key))
      if (first) return { receipts: first, repeated: true, rows: before }
      scope.engine.audit.note(scope.tenant, scope.actor, refusal)
      throw refusal
    }
    time.hashed()
    if (merged.events.length === 0) {
      const first = key && (await findEarlier(scope, key))
      if (merged.refusal) throw merged.refusal
      return { receipts: first ?? [], repeated: first !== undefined, rows: before }
    }
    const guards = [...(options.open ? [await openGuard(scope, options.open)] : []), ...(options.guards ?? []), ...merged.guards]
    const commit: Commit = {
      tenant: scope.tenant,
      ...(key && { key }),
      guards: [...guards, ...factGuards(merged.checked, guards, options.nodes)],
      events: merged.events,
      changes: merged.changes,
      ...(options.nodes && options.nodes.length > 0 && { nodes: options.nodes }),
    }
    const outcome = await scope.engine.lane.submit(commit, time)
    if (outcome.ok) {
      if (merged.refusal) throw merged.refusal
      return { receipts: outcome.receipts, repeated: outcome.repeated, rows: outcome.repeated ? before : merged.after(outcome.receipts) }
    }
    if (!patience.isOver(attempt) && (await putFreshAgain(scope, outcome))) continue
    const { refused } = outcome
    const ours = typeof refused === 'object' && refused.kind === 'row' && !options.guards?.includes(refused)
    if (!ours) throw refusalOf(scope, outcome)
    if (refused.table === 'sessions' && refused.id === options.open) await lookAgain(scope, options.open)
    // Another row holds that name. Deciding again would want the same name.
    if (refused.table === 'names' || options.once || patience.isOver(attempt))
      throw refuse('CONFLICT', { table: refused.table, id: refused.id, tries: attempt })
    await pause(scope, attempt)
  }
}

const seenOf = (seen: DoneRow | (() => DoneRow)): DoneRow => (typeof seen === 'function' ? seen() : seen)

/** Reads a row together with the revision that a guard needs. */
export async function readRow<T extends TableName>({ engine, tenant }: Scope, table: T, id: string): Promise<DoneRow<RowOf<T>>> {
  const row = await engine.backend.rows.get(tenant, table, id)
  return row ? { body: decodeBody(row.body, { table, id }), revision: row.revision } : NOT_THERE
}

interface Merged {
  readonly guards: readonly Guard[]
  /** Payloads whose references must exist. */
  readonly checked: readonly string[]
  readonly events: readonly EventDraft[]
  readonly changes: readonly Change[]
  readonly refusal: InkError | undefined
  readonly after: (receipts: readonly Receipt[]) => readonly DoneRow[]
}

const NO_GUARDS: readonly Guard[] = []

function merge(
  scope: Scope,
  parts: readonly Part[],
  before: readonly DoneRow[],
  key: CommitKey | undefined,
  time: WriteTime,
  at?: number,
): Merged {
  const decided = parts.map((part, i) => {
    const { facts, refusal } = decide(scope, part, (before[i] as DoneRow<Body>).body)
    return { refusal, facts: facts.map(({ type, data }) => ({ type, payload: admitPayload(scope, data, part).payload })) }
  })
  time.masked()
  const guards: Guard[] = []
  const events: EventDraft[] = []
  const checked: string[] = []
  const changes: Change[] = []
  const left: { body: Body | undefined; event: number }[] = []
  parts.forEach((part, i) => {
    const { body, revision } = before[i] as DoneRow<Body>
    const { facts } = decided[i] as (typeof decided)[number]
    let now = body
    if (facts.length > 0) guards.push({ kind: 'row', table: part.decider.table, id: part.id, revision }, ...(part.guards ?? NO_GUARDS))
    for (const { type, payload } of facts) {
      const { session, run, cause } = part
      const draft = draftEvent(scope, { type, session, run, cause, subject: part.id, key: key?.digest, at }, payload)
      const folded = foldFact(part.decider, now, happened(draft), events.length)
      // The name must be free, among erased names too.
      for (const name of folded.taken)
        for (const id of [name, erasedName(scope.engine, name)]) guards.push({ kind: 'row', table: 'names', id, revision: 0 })
      changes.push(...folded.changes)
      events.push(draft)
      if (!part.copied) checked.push(payload)
      now = folded.body
    }
    left.push({ body: now, event: facts.length > 0 ? events.length - 1 : -1 })
  })
  if (events.length > limits.commitEvents)
    throw refuse('COMMIT_TOO_LARGE', { limit: limits.commitEvents, unit: 'events', found: events.length })
  const after = (receipts: readonly Receipt[]) =>
    left.map(({ body, event }, i) => ({ body, revision: event < 0 ? (before[i] as DoneRow).revision : (receipts[event] as Receipt).seq }))
  const refusal = decided.find((decision) => decision.refusal)?.refusal
  return { guards, checked, events, changes, refusal, after }
}

function decide(scope: Scope, part: Part, body: Body | undefined): Decision {
  const decideVerb = part.decider.decide[part.command.verb]
  assert(decideVerb, `${part.decider.table} knows the verb ${part.command.verb}`)
  const decided: readonly Fact[] | Decision = decideVerb(body, part.command, scope.engine.lane.storeTime())
  return 'facts' in decided ? decided : { facts: decided }
}

// Reads the data back from the payload, so that `evolve` sees live exactly what a replay will show it.
const happened = (draft: EventDraft): Happened => ({ ...draft, data: JSON.parse(draft.payload) as Body })

/** Asks whether the key was used before: a commit with a key and no events writes nothing. */
async function findEarlier(scope: Scope, key: CommitKey): Promise<readonly Receipt[] | undefined> {
  const outcome = await scope.engine.lane.submit({ tenant: scope.tenant, key, guards: [], events: [], changes: [] })
  if (!outcome.ok) throw refusalOf(scope, outcome)
  return outcome.repeated ? outcome.receipts : undefined
}
