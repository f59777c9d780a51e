// Read, decide, commit; when someone else was first, read and decide again. Several deciders that change together are one plan
// and so one commit.

import { assert, type InkError, refuse } from '../model/errors.ts'
import type { EventDraft, Receipt } from '../model/event.ts'
import type { EventId, Id, RunId, SessionId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { type Body, decodeBody } from '../model/rows.ts'
import type { TableName } from '../model/tables.ts'
import type { Change, Commit, CommitKey, Guard } from '../ports/commit.ts'
import { lookAgain, openGuard } from './append.ts'
import type { AnyDecider, Command, Decider, Decision, Fact, Happened } from './decider.ts'
import { admit, commitKey, draftEvent, payloadOf } from './draft.ts'
import { erasedName } from './erased-names.ts'
import { foldFact } from './fold.ts'
import { refusalOf } from './outcome.ts'
import { checkOpen, type Scope } from './scope.ts'

export interface Part {
  readonly decider: AnyDecider
  readonly id: Id
  readonly command: Command
  readonly session?: SessionId
  readonly run?: RunId
  readonly cause?: EventId
  /** The row as the caller last saw it, where there is no need to read it again. Asked when it is this plan's turn. */
  readonly seen?: DoneRow | (() => DoneRow)
}

export const part = <Row extends object, C extends Command>(
  decider: Decider<Row, C>,
  id: Id,
  command: C,
  about: Pick<Part, 'session' | 'run' | 'cause' | 'seen'> = {},
): Part => ({ decider, id, command, ...about })

export interface PlanOptions {
  readonly key?: string
  /** What the key is unique within: the verb and its object. */
  readonly within?: string
  /** What must be the same when the key comes again; without it, all commands. */
  readonly body?: unknown
  readonly guards?: readonly Guard[]
  /** When it happened, where that was decided already. */
  readonly at?: number
  /** Nothing is written unless this session is open. */
  readonly open?: SessionId
  /** Decided on what was seen or not at all: where a row is not as it was, that is a CONFLICT at once. */
  readonly once?: boolean
}

export interface Done {
  readonly receipts: readonly Receipt[]
  readonly repeated: boolean
  /** The rows as this commit left them, one per part. */
  readonly rows: readonly DoneRow[]
}

export interface DoneRow {
  readonly body: Body | undefined
  readonly revision: number
}

/** A row that nobody can have written yet. */
export const NOT_THERE: DoneRow = { body: undefined, revision: 0 }

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
  const done = await plan(
    scope,
    [{ decider, id, command, ...(session && { session }), ...(run && { run }), ...(cause && { cause }) }],
    rest,
  )
  const row = done.rows[0] as DoneRow
  return { row: row.body as Row | undefined, revision: row.revision, receipts: done.receipts, repeated: done.repeated }
}

export async function plan(scope: Scope, parts: readonly Part[], options: PlanOptions = {}): Promise<Done> {
  checkOpen(scope.engine)
  const subjects = [...new Set(parts.map((p) => `${scope.tenant}/${p.decider.table}/${p.id}`))]
  assert(subjects.length === parts.length, 'no two parts of a plan change the same row')
  const key =
    options.key === undefined
      ? undefined
      : commitKey(scope, options.within ?? 'plan', options.key, options.body ?? parts.map((p) => admit(scope, p.command)))
  const end = await scope.engine.rowMutex.take(subjects)
  try {
    return await decideAndCommit(scope, parts, options, key)
  } finally {
    end()
  }
}

async function decideAndCommit(scope: Scope, parts: readonly Part[], options: PlanOptions, key: CommitKey | undefined): Promise<Done> {
  for (let attempt = 1; ; attempt++) {
    // What the caller has seen is decided on first: where that is no longer so, the guard says it, and it is read.
    const rows = parts.map((p) => (attempt === 1 && p.seen ? seenOf(p.seen) : readRow(scope, p.decider.table, p.id)))
    const before = rows.some((row) => row instanceof Promise) ? await Promise.all(rows) : (rows as readonly DoneRow[])
    let merged: Merged
    try {
      merged = merge(scope, parts, before, key, options.at)
    } catch (refusal) {
      // A retry must find its receipt, not a refusal caused by its own first success.
      const first = key && (await findEarlier(scope, key))
      if (first) return { receipts: first, repeated: true, rows: before }
      throw refusal
    }
    if (merged.events.length === 0) {
      const first = key && (await findEarlier(scope, key))
      if (merged.refusal) throw merged.refusal
      return { receipts: first ?? [], repeated: first !== undefined, rows: before }
    }
    const commit: Commit = {
      tenant: scope.tenant,
      ...(key && { key }),
      guards: [...(options.open ? [await openGuard(scope, options.open)] : []), ...(options.guards ?? []), ...merged.guards],
      events: merged.events,
      changes: merged.changes,
    }
    const outcome = await scope.engine.lane.submit(commit)
    if (outcome.ok) {
      if (merged.refusal) throw merged.refusal
      return { receipts: outcome.receipts, repeated: outcome.repeated, rows: outcome.repeated ? before : merged.after(outcome.receipts) }
    }
    const { refused } = outcome
    const ours = typeof refused === 'object' && refused.kind === 'row' && !options.guards?.includes(refused)
    if (!ours) throw refusalOf(scope, outcome)
    if (refused.table === 'sessions' && refused.id === options.open) await lookAgain(scope, options.open)
    // Someone holds that name, and deciding again will not change which name this row wants.
    if (refused.table === 'names' || options.once || attempt === limits.conflictRetries)
      throw refuse('CONFLICT', { table: refused.table, id: refused.id, tries: attempt })
    await pause(scope, attempt)
  }
}

const seenOf = (seen: DoneRow | (() => DoneRow)): DoneRow => (typeof seen === 'function' ? seen() : seen)

/** A row as something can be decided on it. */
export async function readRow({ engine, tenant }: Scope, table: TableName, id: string): Promise<DoneRow> {
  const row = await engine.backend.rows.get(tenant, table, id)
  return row ? { body: decodeBody(row.body), revision: row.revision } : NOT_THERE
}

interface Merged {
  readonly guards: readonly Guard[]
  readonly events: readonly EventDraft[]
  readonly changes: readonly Change[]
  readonly refusal: InkError | undefined
  readonly after: (receipts: readonly Receipt[]) => readonly DoneRow[]
}

function merge(scope: Scope, parts: readonly Part[], before: readonly DoneRow[], key: CommitKey | undefined, at?: number): Merged {
  const guards: Guard[] = []
  const events: EventDraft[] = []
  const changes: Change[] = []
  const left: { body: Body | undefined; event: number }[] = []
  let refusal: InkError | undefined
  parts.forEach((part, i) => {
    const { body, revision } = before[i] as DoneRow
    const decision = decide(scope, part, body)
    refusal ??= decision.refusal
    let now = body
    if (decision.facts.length > 0) guards.push({ kind: 'row', table: part.decider.table, id: part.id, revision })
    for (const { type, data } of decision.facts) {
      const { session, run, cause } = part
      const draft = draftEvent(
        scope,
        { type, session, run, cause, subject: part.id, key: key?.digest, at },
        payloadOf(scope, admit(scope, data)),
      )
      const folded = foldFact(part.decider, now, happened(draft), events.length)
      // Nobody has it, nor had it before it was erased.
      for (const name of folded.taken)
        for (const id of [name, erasedName(scope.engine, name)]) guards.push({ kind: 'row', table: 'names', id, revision: 0 })
      changes.push(...folded.changes)
      events.push(draft)
      now = folded.body
    }
    left.push({ body: now, event: decision.facts.length > 0 ? events.length - 1 : -1 })
  })
  if (events.length > limits.commitEvents)
    throw refuse('COMMIT_TOO_LARGE', { limit: limits.commitEvents, unit: 'events', found: events.length })
  const after = (receipts: readonly Receipt[]) =>
    left.map(({ body, event }, i) => ({ body, revision: event < 0 ? (before[i] as DoneRow).revision : (receipts[event] as Receipt).seq }))
  return { guards, events, changes, refusal, after }
}

function decide(scope: Scope, part: Part, body: Body | undefined): Decision {
  const decideVerb = part.decider.decide[part.command.verb]
  assert(decideVerb, `${part.decider.table} knows the verb ${part.command.verb}`)
  const decided: readonly Fact[] | Decision = decideVerb(body, part.command, scope.engine.lane.storeTime())
  return 'facts' in decided ? decided : { facts: decided }
}

// What evolve sees live is read back from the payload, so that it is exactly what replay will see.
const happened = (draft: EventDraft): Happened => ({ ...draft, data: JSON.parse(draft.payload) as Body })

/** A commit with a key and nothing else asks whether that key was used, and writes nothing. */
async function findEarlier(scope: Scope, key: CommitKey): Promise<readonly Receipt[] | undefined> {
  const outcome = await scope.engine.lane.submit({ tenant: scope.tenant, key, guards: [], events: [], changes: [] })
  if (!outcome.ok) throw refusalOf(scope, outcome)
  return outcome.repeated ? outcome.receipts : undefined
}

/** Colliding writers come back at different moments. */
export function pause(scope: Scope, attempt: number): Promise<void> {
  const { entropy, timer } = scope.engine.environment
  const spread = (entropy.bytes(1)[0] as number) / 255
  return timer.after(Math.min(2 ** attempt, 64) * spread)
}
