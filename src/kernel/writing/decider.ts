// A decider is a pair of pure functions: from a command and a row to facts, and from a row and a fact to the next row. It has no I/O, no
// clock and no randomness; time comes in as `now`.

import type { InkError } from '../../model/errors.ts'
import type { EventId, Id, RunId, SessionId } from '../../model/ids.ts'
import { NOUNS_AHEAD, nounOf } from '../../model/reserved-nouns.ts'
import type { Body } from '../../model/rows.ts'
import type { TableName } from '../../model/tables.ts'
import type { TenantState } from '../../model/tenant.ts'

/** An event that a decision produces. */
export interface Fact {
  readonly type: string
  readonly data: Body
}

export const fact = (type: string, data: Body): Fact => ({ type, data })

/** Facts to write together with an error for the caller: a late answer writes `expired` and is refused. */
export interface Decision {
  readonly facts: readonly Fact[]
  readonly refusal?: InkError
}

/** A fact as the fold sees it, without seq, hash or clock. `data` is undefined when the payload was erased. */
export interface Happened<Data extends Body = Body> {
  readonly id: EventId
  readonly type: string
  readonly data: Data | undefined
  readonly at: number
  readonly actor: string
  readonly session?: SessionId | undefined
  readonly run?: RunId | undefined
  readonly subject?: Id | undefined
  readonly cause?: EventId | undefined
}

export interface Command {
  readonly verb: string
}

/** A fact whose data an entry of `evolve` knows: `(row, e: HappenedWith<Definition>) => …`. */
export type HappenedWith<Data extends object> = Happened<Data & Body>

type Decide<Row, C> = (row: Row | undefined, command: C, now: number) => readonly Fact[] | Decision

// The type of a method, which lets an entry name the data of its own event type.
type Evolve<Row> = { evolve(row: Row | undefined, event: Happened): Row | undefined }['evolve']

export interface Decider<Row extends object = Body, C extends Command = Command> {
  readonly table: TableName
  readonly decide: { readonly [V in C['verb']]: Decide<Row, Extract<C, { verb: V }>> }
  /** One entry per event type of this feature; `undefined` as the next row removes it. */
  readonly evolve: Readonly<Record<string, Evolve<Row>>>
  /** The user-chosen keys that this row holds, as [kind, key]. Two rows never hold the same one. */
  readonly names?: (row: Row) => readonly (readonly [string, string])[]
  /** The members that survive an erasure: ids and numbers without personal data. The row also keeps its names, as digests. */
  readonly keeps?: (row: Row) => Body
  /** Event types that grant the row to a holder: their seq becomes its fence. */
  readonly grants?: readonly string[]
}

// biome-ignore lint/suspicious/noExplicitAny: a registry holds deciders of every row and command
export type AnyDecider = Decider<any, any>

export const decider = <Row extends object, C extends Command>(d: Decider<Row, C>): Decider<Row, C> => d

/** Finds the decider of an event type or table. The nouns of these types are reserved: callers cannot append types with them. */
export class Registry {
  readonly #byType = new Map<string, AnyDecider>()
  readonly #byTable = new Map<TableName, AnyDecider>()

  /** Reserved as a whole: no caller may append a type with one of these nouns. */
  readonly nouns: ReadonlySet<string>

  constructor(deciders: readonly AnyDecider[], tapeTypes: readonly string[] = []) {
    for (const d of deciders) {
      this.#byTable.set(d.table, d)
      for (const type of Object.keys(d.evolve)) this.#byType.set(type, d)
    }
    const types = [...this.#byType.keys(), ...tapeTypes, ...Object.values(TENANT_STATE_EVENTS), ERASED]
    this.nouns = new Set([...types.map(nounOf), ...NOUNS_AHEAD])
  }

  ofTable(table: TableName): AnyDecider | undefined {
    return this.#byTable.get(table)
  }

  of(type: string): AnyDecider | undefined {
    return this.#byType.get(type)
  }

  isReserved(type: string): boolean {
    return this.nouns.has(nounOf(type))
  }
}

/** An erasure is an event of any subject; no decider owns it. */
export const ERASED = 'payload.erased'

/** Returns the members that the row of this table keeps, from the payload of an erasure. */
export const keptIn = (data: Body | undefined, table: TableName): Body =>
  ((data?.kept ?? {}) as Partial<Record<TableName, Body>>)[table] ?? {}

/** Changes of a tenant's state. They have no subject and no decider; the head keeps the state. */
export const TENANT_STATE_EVENTS: Readonly<Record<TenantState, string>> = {
  active: 'tenant.resumed',
  suspended: 'tenant.suspended',
  deleted: 'tenant.deleted',
}

export interface ErasedData {
  /** Inclusive ranges of seqs. */
  readonly seqs: readonly (readonly [number, number])[]
  readonly reason: string
}
