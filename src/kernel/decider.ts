// A feature is a decider: pure functions from a command and a row to facts, and from a row and a fact to the next row. No I/O, no
// clock, no chance inside; time comes in as `now`.

import type { InkError } from '../model/errors.ts'
import type { EventId, Id, RunId, SessionId } from '../model/ids.ts'
import type { Body } from '../model/rows.ts'
import type { TableName } from '../model/tables.ts'
import type { TenantState } from '../model/tenant.ts'

/** What a decision says happened. */
export interface Fact {
  readonly type: string
  readonly data: Body
}

export const fact = (type: string, data: Body): Fact => ({ type, data })

/** Facts to write, and a refusal to tell the caller all the same: a late answer writes `expired` and is told so. */
export interface Decision {
  readonly facts: readonly Fact[]
  readonly refusal?: InkError
}

/** A fact as the fold sees it: never its seq, its hash or a clock. `data` is undefined when the payload was erased. */
export interface Happened {
  readonly id: EventId
  readonly type: string
  readonly data: Body | undefined
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

type Decide<Row, C> = (row: Row | undefined, command: C, now: number) => readonly Fact[] | Decision
type Evolve<Row> = (row: Row | undefined, event: Happened) => Row | undefined

export interface Decider<Row extends object = Body, C extends Command = Command> {
  readonly table: TableName
  readonly decide: { readonly [V in C['verb']]: Decide<Row, Extract<C, { verb: V }>> }
  /** One entry per event type of this feature; `undefined` as the next row means that it is gone. */
  readonly evolve: Readonly<Record<string, Evolve<Row>>>
  /** User-chosen keys this row holds, as [kind, key]; two rows never hold the same one. */
  readonly names?: (row: Row) => readonly (readonly [string, string])[]
  /** What an erasure leaves, ids and numbers that say nothing about anybody; with it a row also goes on holding its names, by their digests. */
  readonly keeps?: (row: Row) => Body
  /** Event types that grant the row to someone: their seq becomes its fence. */
  readonly grants?: readonly string[]
}

// biome-ignore lint/suspicious/noExplicitAny: a registry holds deciders of every row and command
export type AnyDecider = Decider<any, any>

export const decider = <Row extends object, C extends Command>(d: Decider<Row, C>): Decider<Row, C> => d

/** Which decider an event type belongs to. Types in here are reserved: nobody appends them by hand. */
export class Registry {
  readonly #byType = new Map<string, AnyDecider>()
  readonly #byTable = new Map<TableName, AnyDecider>()

  readonly #tapeTypes: readonly string[]

  constructor(deciders: readonly AnyDecider[], tapeTypes: readonly string[] = []) {
    this.#tapeTypes = tapeTypes
    for (const d of deciders) {
      this.#byTable.set(d.table, d)
      for (const type of Object.keys(d.evolve)) this.#byType.set(type, d)
    }
  }

  ofTable(table: TableName): AnyDecider | undefined {
    return this.#byTable.get(table)
  }

  of(type: string): AnyDecider | undefined {
    return this.#byType.get(type)
  }

  isReserved(type: string): boolean {
    return this.#byType.has(type) || type === ERASED || TURNS.includes(type) || this.#tapeTypes.includes(type)
  }
}

/** Erasing is an event of every subject and of no decider. */
export const ERASED = 'payload.erased'

/** What the payload of such an event says of rows, by their tables: what they keep of what was erased. */
export const keptIn = (data: Body | undefined, table: TableName): Body =>
  ((data?.kept ?? {}) as Partial<Record<TableName, Body>>)[table] ?? {}

/** What became of a tenant: facts of no subject and of no decider. The state they leave stands on the head. */
export const TENANT_STATE_EVENTS: Readonly<Record<TenantState, string>> = {
  active: 'tenant.resumed',
  suspended: 'tenant.suspended',
  deleted: 'tenant.deleted',
}

const TURNS: readonly string[] = Object.values(TENANT_STATE_EVENTS)

export interface ErasedData {
  /** Inclusive ranges of seqs. */
  readonly seqs: readonly (readonly [number, number])[]
  readonly reason: string
}
