// One transaction of the kernel: `build` reads, decides and returns shares, and all of them are one commit. When another writer changed a row
// that `build` had read, it is built again.

import { assert, InkError, refuse } from '../../model/errors.ts'
import type { Receipt } from '../../model/event.ts'
import type { SessionId } from '../../model/ids.ts'
import type { TableName } from '../../model/tables.ts'
import type { ValueNode } from '../../model/value.ts'
import type { Commit, CommitKey, Guard, Outcome } from '../../ports/commit.ts'
import { putFreshAgain } from '../content/blobs.ts'
import { OptionalGuards } from '../content/doubtful.ts'
import { factGuards } from '../content/references.ts'
import { WriteTime } from '../measuring/write-time.ts'
import { checkOpen, type Scope } from '../wiring/scope.ts'
import { refusalOf } from './commit-outcome.ts'
import { admit, commitKey } from './draft.ts'
import { type Merged, merge } from './merge.ts'
import { type DoneRow, type Part, readRow, rowKey, seenOf } from './part.ts'
import { Patience, pause } from './retry-conflicts.ts'
import { look, lookAgain, openGuard } from './session-guard.ts'

/** What one noun adds to a commit. */
export interface Share<T = unknown> {
  readonly parts?: readonly Part[]
  /** Nodes of values that the facts refer to. */
  readonly nodes?: readonly ValueNode[]
  readonly guards?: readonly Guard[]
  /** The share puts its content each time it is built, so a collection in between is answered by building it again. */
  readonly puts?: boolean
  /** Gets the rows of its own parts as the commit left them. Where there is nothing to write it gets none. */
  readonly committed?: (rows: readonly DoneRow[], done: Committed) => T | Promise<T>
}

export interface Committed {
  readonly receipts: readonly Receipt[]
  /** The key was used before: nothing was written now. */
  readonly repeated: boolean
}

export interface TransactOptions {
  readonly key?: string
  /** The scope in which the key is unique: the verb and its object. */
  readonly within?: string
  /** The value that must match when the key is used again. The default is all commands. */
  readonly body?: unknown
  /** The time of the events. The default is the clock's. */
  readonly at?: number
  /** The commit is refused unless this session is open. */
  readonly open?: SessionId
  /** A row that has changed since it was read is a CONFLICT at once. */
  readonly once?: boolean
  /** Began with the call. The default begins with the transaction. */
  readonly time?: WriteTime
}

/** The first share answers: what its `committed` returns is the result. */
export type Shares<T> = Share<T> | readonly [Share<T>, ...Share[]]

/** Builds a transaction. It writes no rows itself, and may be called several times. */
export type Build<T> = (scope: Scope, round: Round) => Promise<Shares<T>>

export interface Round {
  /** A commit was refused before, so what this process remembers of rows and content may be old. */
  readonly again: boolean
  /** The time of the write. A build marks what it spends on masking and hashing. */
  readonly time: WriteTime
}

/** The scope for commits that a build makes before its own: of rows that nothing names until then. */
export const beforehand = ({ reads: _, ...scope }: Scope): Scope => scope

/** Collections without grace that may follow one another between a put and its commit. Content that is gone for good is refused soon. */
const GONE_TIMES = 8

/** Calls `build` with a scope that remembers the rows it reads, and commits the shares that it returns. */
export function transact<T>(scope: Scope, build: Build<T>, options: TransactOptions = {}): Promise<T> {
  return transactWith(scope, build, options, [])
}

/**
 * The same, for parts that are known before: their rows are read when no other caller of this process is at them. A given guard is never
 * built again, so its refusal is final.
 */
export async function transactWith<T>(scope: Scope, build: Build<T>, options: TransactOptions, known: readonly Part[]): Promise<T> {
  checkOpen(scope.engine)
  assert(!scope.reads, 'a transaction is not begun while another is built')
  options.time?.waited()
  const time = options.time ?? new WriteTime(scope.engine.environment.clock)
  const patience = new Patience(scope)
  const mine = new RowsInHand(scope)
  const contested: string[] = []
  const optional = new OptionalGuards()
  let again = false
  let gone = 0
  try {
    await mine.take(keysOf(known))
    for (let attempt = 1; ; attempt++) {
      const reads: NonNullable<Scope['reads']> = new Map()
      const built = await build({ ...scope, reads }, { again, time })
      const shares = (Array.isArray(built) ? built : [built]) as readonly [Share<T>, ...Share[]]
      const parts = shares.flatMap((share) => share.parts ?? [])
      // Another caller of this process was at these rows, so what was read is old. Nobody else is at them now.
      if ((await mine.take([...keysOf(parts), ...contested])) && reads.size > 0 && !patience.isOver(attempt)) continue
      const outcome = await attemptOnce({
        scope,
        parts,
        shares,
        options,
        time,
        trusted: !again,
        reads,
        optional,
        isBuilt: known.length === 0,
      })
      // Not awaited here: an answer may take its time, or begin a transaction of its own, and these rows are free for it.
      if ('rows' in outcome) return answer(shares, outcome)
      again = true
      if (!patience.isOver(attempt) && (await putFreshAgain(scope, outcome))) continue
      if (await optional.drop(scope, outcome)) continue
      if (isContent(outcome) && shares.some(({ puts }) => puts) && gone++ < GONE_TIMES) continue
      const { refused } = outcome
      if (typeof refused !== 'object' || refused.kind !== 'row' || !mayPass(refused, { shares, reads, known }))
        throw refusalOf(scope, outcome)
      if (refused.table === 'sessions') await (refused.id === options.open ? lookAgain : look)(scope, refused.id as SessionId)
      if (options.once || patience.isOver(attempt)) throw refuse('CONFLICT', { table: refused.table, id: refused.id, tries: attempt })
      contested.push(rowKey(refused.table, refused.id))
      await pause(scope, attempt)
    }
  } finally {
    mine.leave()
  }
}

/** Each share hears of its own rows at once, and the first one answers. */
function answer<T>(shares: readonly [Share<T>, ...Share[]], { rows, ...done }: Saved): Promise<T> {
  let at = 0
  const answers = (shares as readonly Share[]).map(({ parts = [], committed }) => {
    at += parts.length
    return committed?.(rows.slice(at - parts.length, at), done)
  })
  return Promise.all(answers).then(([first]) => first as T)
}

type Refused = Outcome & { readonly ok: false }

interface Saved extends Committed {
  readonly rows: readonly DoneRow[]
}

interface Attempt {
  readonly scope: Scope
  readonly parts: readonly Part[]
  readonly shares: readonly Share[]
  readonly options: TransactOptions
  readonly time: WriteTime
  /** The rows that the parts have seen count as they are. Otherwise only those do that were read for this attempt. */
  readonly trusted: boolean
  readonly reads: NonNullable<Scope['reads']>
  readonly optional: OptionalGuards
  /** The parts can be built again. */
  readonly isBuilt: boolean
}

/** A decider found another row than its command was made for. */
const rowMoved = ({ details: { table, id } }: InkError): Refused => ({
  ok: false,
  refused: { kind: 'row', table: table as TableName, id: String(id), revision: 0 },
  found: 0,
  now: 0,
})

const NOTHING: Saved = { rows: [], receipts: [], repeated: false }

async function attemptOnce({ scope, parts, shares, options, time, trusted, reads, optional, isBuilt }: Attempt): Promise<Saved | Refused> {
  if (parts.length === 0) return NOTHING
  const key = keyOf(scope, options, parts)
  if (key) time.masked()
  const reading = { ...scope, reads }
  const rows = parts.map((p) =>
    p.seen && (trusted || reads.has(rowKey(p.decider.table, p.id))) ? seenOf(p.seen) : readRow(reading, p.decider.table, p.id),
  )
  const before = rows.some((row) => row instanceof Promise) ? await Promise.all(rows) : (rows as readonly DoneRow[])
  let merged: Merged
  time.waited()
  try {
    merged = merge(scope, parts, before, key, time, options.at)
  } catch (refusal) {
    // A retry must find its receipt, not a refusal caused by its own first success.
    const first = key && (await findEarlier(scope, key))
    if (first) return { receipts: first, repeated: true, rows: before }
    if (isBuilt && refusal instanceof InkError && refusal.code === 'CONFLICT') return rowMoved(refusal)
    scope.engine.audit.note(scope.tenant, scope.actor, refusal)
    throw refusal
  }
  time.hashed()
  if (merged.events.length === 0) {
    const first = key && (await findEarlier(scope, key))
    if (merged.refusal) throw merged.refusal
    return { receipts: first ?? [], repeated: first !== undefined, rows: before }
  }
  const nodes = shares.flatMap((share) => share.nodes ?? [])
  const guards = [
    ...(options.open ? [await openGuard(scope, options.open)] : []),
    ...shares.flatMap((share) => share.guards ?? []),
    ...merged.guards,
  ]
  const commit: Commit = {
    tenant: scope.tenant,
    ...(key && { key }),
    guards: optional.of([...guards, ...factGuards(merged.checked, guards, nodes)]),
    events: merged.events,
    changes: merged.changes,
    ...(nodes.length > 0 && { nodes }),
  }
  const outcome = await scope.engine.lane.submit(commit, time)
  if (!outcome.ok) return outcome
  if (merged.refusal) throw merged.refusal
  const { receipts, repeated } = outcome
  return { receipts, repeated, rows: repeated ? before : merged.after(receipts) }
}

const keyOf = (scope: Scope, { key, within = 'plan', body }: TransactOptions, parts: readonly Part[]): CommitKey | undefined =>
  key === undefined ? undefined : commitKey(scope, within, key, body ?? parts.map(({ command }) => admit(scope, command)))

/** Asks whether the key was used before: a commit with a key and no events writes nothing. */
async function findEarlier(scope: Scope, key: CommitKey): Promise<readonly Receipt[] | undefined> {
  const outcome = await scope.engine.lane.submit({ tenant: scope.tenant, key, guards: [], events: [], changes: [] })
  if (!outcome.ok) throw refusalOf(scope, outcome)
  return outcome.repeated ? outcome.receipts : undefined
}

/** Content that a share has put. What the data of the caller names is not put again by building it again. */
const isContent = ({ refused }: Refused): boolean =>
  typeof refused === 'object' && (refused.kind === 'value' || refused.kind === 'blob') && !refused.given

type RowGuard = Guard & { readonly kind: 'row' }

interface Made {
  readonly shares: readonly Share[]
  readonly reads: NonNullable<Scope['reads']>
  readonly known: readonly Part[]
}

/** Whether another attempt may pass: it reads the row again. A name that `build` did not look up is wanted again, and refused again. */
function mayPass(refused: RowGuard, { shares, reads, known }: Made): boolean {
  if (refused.table === 'names') return reads.has(rowKey('names', refused.id))
  return known.length === 0 || !shares.some(({ guards }) => guards?.includes(refused))
}

function keysOf(parts: readonly Part[]): readonly string[] {
  const keys = parts.map((one) => rowKey(one.decider.table, one.id))
  assert(new Set(keys).size === keys.length, 'no two parts of a commit change the same row')
  return keys
}

/** The rows that no other caller of this process may decide on meanwhile. Guards handle those of other processes. */
class RowsInHand {
  readonly #scope: Scope
  readonly #keys = new Set<string>()
  readonly #ends: (() => void)[] = []

  constructor(scope: Scope) {
    this.#scope = scope
  }

  /** Tells whether it had to wait for another caller. */
  async take(rows: readonly string[]): Promise<boolean> {
    const { rowMutex } = this.#scope.engine
    const keys = [...new Set(rows.map((row) => `${this.#scope.tenant}/${row}`))]
    const missing = keys.filter((key) => !this.#keys.has(key))
    if (missing.length === 0) return false
    const waits = rowMutex.isTaken(missing)
    // A caller that waits holds nothing, so two callers never wait for each other.
    if (waits) this.leave()
    const wanted = waits ? keys : missing
    this.#ends.push(await rowMutex.take(wanted))
    for (const key of wanted) this.#keys.add(key)
    return waits
  }

  leave(): void {
    for (const end of this.#ends.splice(0)) end()
    this.#keys.clear()
  }
}
