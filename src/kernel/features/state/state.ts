// `store.state` and `session.state`: values under keys, folded from the journal.

import { refuse } from '../../../model/errors.ts'
import type { Id, SessionId } from '../../../model/ids.ts'
import type { Jsonify } from '../../../model/jsonify.ts'
import { limits } from '../../../model/limits.ts'
import { checkKey, invalidOption, optionsOf } from '../../../model/options.ts'
import { compareText } from '../../../model/order.ts'
import { decodeBody, type TableRow } from '../../../model/rows.ts'
import type { SchemaInput, SchemaOutput, StandardSchemaV1 } from '../../../model/standard-schema.ts'
import type { StateContent, StateRow } from '../../../model/state.ts'
import type { Guard } from '../../../ports/commit.ts'
import { abortable } from '../../reading/abortable.ts'
import { everyPage, everyRow } from '../../reading/every-row.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { plan } from '../../writing/execute.ts'
import { type DoneRow, NOT_THERE, part, readAhead, readRow } from '../../writing/part.ts'
import { type Build, transact } from '../../writing/transact.ts'
import { lazyOf, type ReadValueOptions } from '../values/values.ts'
import { hasBytes, keepContents, readContent, stageContents } from './content.ts'
import { type DeclaredEntry, declaredEntry, type StateEntryOptions } from './declared-entry.ts'
import { stateId } from './fork-state.ts'
import { isOver, type StateCommand, state } from './state-decider.ts'
import { type SetStateOptions, type StateChange, type TakenChange, takeChanges, takeDelete, takeSet } from './take-changes.ts'

export interface StateEntry<T = unknown> {
  readonly key: string
  /** JSON, or the bytes that were set. */
  readonly value: T
  /** Changes with every `set`. Pass it as `expect` to write only if nobody else has. */
  readonly revision: number
  /** Store time from which the entry counts as absent. */
  readonly expires?: number
}

/** The revision that the entry has now; 0 for one that was deleted. */
export interface WrittenState {
  readonly key: string
  readonly revision: number
}

export interface KeyValueState {
  /** Sets a JSON value or bytes under a key, and returns the new revision. */
  set(key: string, value: unknown, options?: SetStateOptions): Promise<WrittenState>
  /** Sets and deletes several keys in one commit, all or none, and returns them in their order. */
  write(changes: readonly StateChange[]): Promise<readonly WrittenState[]>
  get<T = unknown>(key: string, options?: ReadValueOptions): Promise<StateEntry<T> | undefined>
  exists(key: string): Promise<boolean>
  /** Says whether there was an entry. */
  delete(key: string, options?: Pick<SetStateOptions, 'expect'>): Promise<boolean>
  /** Lists the entries whose keys begin with a prefix, in the order of their keys. */
  list<T = unknown>(prefix?: string, options?: ListStateOptions): AsyncGenerator<StateEntry<T>, void, undefined>
  /** One entry whose value is declared: `set` checks it, and `get` returns what the schema made of it. Nothing is read or written yet. */
  entry<S extends StandardSchemaV1>(key: string, options: StateEntryOptions<S>): DeclaredEntry<Jsonify<SchemaOutput<S>>, SchemaInput<S>>
}

export interface ListStateOptions extends ReadValueOptions {
  readonly backwards?: boolean
  /** Only keys after this one (before it, backwards). */
  readonly after?: string
  readonly signal?: AbortSignal
}

const PAGE = 100

/** State of the tenant, or of one session. */
export const keyValueState = (scope: Scope, session?: SessionId): KeyValueState => new Entries(scope, session)

class Entries implements KeyValueState {
  readonly #scope: Scope
  readonly #session: SessionId | undefined

  constructor(scope: Scope, session: SessionId | undefined) {
    this.#scope = scope
    this.#session = session
  }

  async set(key: string, value: unknown, options?: SetStateOptions): Promise<WrittenState> {
    checkOpen(this.#scope.engine)
    const [written] = await this.#write([takeSet(key, value, options, 'state.set')])
    return written as WrittenState
  }

  async write(changes: readonly StateChange[]): Promise<readonly WrittenState[]> {
    checkOpen(this.#scope.engine)
    return this.#write(takeChanges(changes))
  }

  async get<T>(key: string, options?: ReadValueOptions): Promise<StateEntry<T> | undefined> {
    this.#checkKey(key)
    const lazy = lazyOf(options)
    const { body: row, revision } = await this.#live(key)
    return row && this.#entry<T>(row, revision, lazy)
  }

  entry<S extends StandardSchemaV1>(key: string, options: StateEntryOptions<S>): DeclaredEntry<Jsonify<SchemaOutput<S>>, SchemaInput<S>> {
    this.#checkKey(key)
    return declaredEntry(this.#scope, this, key, options)
  }

  async exists(key: string): Promise<boolean> {
    this.#checkKey(key)
    return (await this.#live(key)).body !== undefined
  }

  async delete(key: string, options?: Pick<SetStateOptions, 'expect'>): Promise<boolean> {
    checkOpen(this.#scope.engine)
    const change = takeDelete(key, options, 'state.delete')
    const { body } = await this.#live(key)
    await this.#write([change])
    return body !== undefined
  }

  async *list<T>(prefix = '', options?: ListStateOptions): AsyncGenerator<StateEntry<T>, void, undefined> {
    checkOpen(this.#scope.engine)
    if (typeof prefix !== 'string' || !prefix.isWellFormed() || prefix.includes('\0'))
      throw invalidOption('prefix', 'well-formed text without U+0000', prefix)
    const { backwards = false, after, signal, ...reading } = optionsOf(options, 'state.list')
    const lazy = lazyOf(reading)
    if (typeof backwards !== 'boolean') throw invalidOption('backwards', 'true or false', backwards)
    if (after !== undefined) checkKey(after)
    const range = { from: prefix, below: prefix + LAST_CHARACTERS }
    if (after !== undefined && backwards && compareText(after, range.below) < 0) range.below = after
    if (after !== undefined && !backwards && compareText(after, range.from) > 0) range.from = after
    const query = { index: 'byKey', equals: [this.#session ?? null], ...range, backwards, limit: PAGE }
    let now: number | undefined
    for await (const stored of abortable(this.#scope, everyRow(this.#scope, 'state', query), signal)) {
      const row = decodeBody(stored.body, stored)
      if (row.expires !== undefined) now ??= await this.#now()
      const isLive = isThere(row) && !isOver(row, now ?? 0)
      if (isLive && row.key !== after) yield await this.#entry<T>(row, stored.revision, lazy)
    }
  }

  #checkKey(key: string): void {
    checkOpen(this.#scope.engine)
    checkKey(key)
  }

  async #entry<T>(row: LiveRow, revision: number, lazy: boolean): Promise<StateEntry<T>> {
    const value = (await readContent(this.#scope, row.content, lazy)) as T
    return { key: row.key, value, revision, ...(row.expires !== undefined && { expires: row.expires }) }
  }

  /** Writes all changes in one commit, each guarded by its expected revision if there is one. */
  async #write(changes: readonly TakenChange[]): Promise<readonly WrittenState[]> {
    const kept = keepContents(
      this.#scope,
      changes.flatMap((change) => change.set ?? []),
    )
    const expires = changes.some(({ set }) => set?.ttlMs !== undefined)
    // Bytes are stored before the commit that checks the revisions again.
    if (hasBytes(kept)) await this.#expectedRows(this.#scope, changes)
    const session = this.#session
    const build: Build<readonly WrittenState[]> = async (scope, round) => {
      // The time comes in one round trip with the rows.
      if (expires)
        readAhead(
          scope,
          changes.map(({ key }) => ({ table: 'state', id: this.#idOf(key) })),
        )
      const told = expires ? this.#now() : undefined
      const [now = 0, seen, { contents, ...content }] = await Promise.all([
        told,
        this.#expectedRows(scope, changes, told),
        stageContents(scope, kept, round),
      ])
      const left = [...contents]
      const parts = changes.map(({ key, set: to }, i) => {
        const until = to?.ttlMs === undefined ? undefined : now + to.ttlMs
        const command: StateCommand = to
          ? { verb: 'set', session, key, content: left.shift() as StateContent, expires: until }
          : { verb: 'delete' }
        return part(state, this.#idOf(key), command, { ...(session && { session }), whole: true, ...(seen[i] && { seen: seen[i] }) })
      })
      // A delete of an absent entry writes nothing that would be guarded, but the others hold only if it is still absent.
      const guards = parts.flatMap(({ id }, i): readonly Guard[] =>
        seen[i] && !seen[i].body && !changes[i]?.set ? [{ kind: 'row', table: 'state', id, revision: seen[i].revision }] : [],
      )
      const written = (rows: readonly DoneRow[]) =>
        changes.map(({ key, set }, i) => ({ key, revision: set ? (rows[i]?.revision ?? 0) : 0 }))
      return [{ parts, guards, committed: written }, content]
    }
    return transact(this.#scope, build, session ? { open: session } : {})
  }

  /** The rows of the entries that a change expects at a revision. */
  #expectedRows(
    scope: Scope,
    changes: readonly TakenChange[],
    told?: Promise<number>,
  ): Promise<readonly (DoneRow<StateRow> | undefined)[]> {
    return Promise.all(
      changes.map(async ({ key, expect }) => (expect === undefined ? undefined : this.#expected(scope, key, expect, told))),
    )
  }

  /** The row as it is stored. Refused if the entry has another revision. */
  async #expected(scope: Scope, key: string, expect: number, told: Promise<number> | undefined): Promise<DoneRow<StateRow>> {
    const seen = await readRow(scope, 'state', this.#idOf(key))
    const found = (await this.#isLive(seen.body, told)) ? seen.revision : 0
    if (found !== expect) throw refuse('STATE_CHANGED', { key, expect, found })
    return seen
  }

  /** The row, unless it has expired. */
  async #live(key: string): Promise<DoneRow<LiveRow>> {
    const { body, revision } = await readRow(this.#scope, 'state', this.#idOf(key))
    return isThere(body) && (await this.#isLive(body)) ? { body, revision } : NOT_THERE
  }

  /** `told` is the store's time, if it was asked already. */
  async #isLive(row: StateRow | undefined, told?: Promise<number>): Promise<boolean> {
    return isThere(row) && (row.expires === undefined || !isOver(row, await (told ?? this.#now())))
  }

  #idOf(key: string): Id<'state'> {
    return stateId(this.#scope, this.#session, key)
  }

  async #now(): Promise<number> {
    const { engine, tenant } = this.#scope
    return (await engine.backend.leases.read(tenant, [])).now
  }
}

type LiveRow = StateRow & Required<Pick<StateRow, 'content'>>

/** An entry whose payload was erased is not there. */
const isThere = (row: StateRow | undefined): row is LiveRow => row?.content !== undefined

// No key is as long as this text of the last character, so every key with a prefix lies below the prefix and it.
const LAST_CHARACTERS = '\u{10ffff}'.repeat(limits.keyBytes / 4 + 1)

/** Removes entries that have expired. Returns their number. */
export async function removeExpired(scope: Scope, now: number): Promise<number> {
  let removed = 0
  for await (const rows of everyPage(scope, 'state', { index: 'byExpiry', equals: [], from: 0, below: now + 1, limit: PAGE })) {
    removed += await removeRows(scope, rows, { verb: 'expire', now })
  }
  return removed
}

/** Removes the state of a session that is being deleted. */
export async function clearSession(scope: Scope, session: SessionId): Promise<void> {
  for await (const rows of everyPage(scope, 'state', { index: 'byKey', equals: [session], limit: PAGE }))
    await removeRows(scope, rows, { verb: 'delete' })
}

/** Returns the number of entries that were removed. */
async function removeRows(scope: Scope, rows: readonly TableRow<'state'>[], command: StateCommand): Promise<number> {
  if (rows.length === 0) return 0
  const { receipts } = await plan(
    scope,
    rows.map(({ id }) => part(state, id as Id, command)),
  )
  return receipts.length
}
