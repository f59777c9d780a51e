// A feature is a folder of the kernel. It declares here what it adds to a store; features.ts lists them. The engine, the store, sessions,
// runs, deletion and the scheduler fold over that list and name no feature themselves.

import type { EventRecord } from '../model/event.ts'
import type { SessionId, TenantId } from '../model/ids.ts'
import type { RunRow, Wait } from '../model/run.ts'
import { NO_COUNTS, type SessionRow, type SessionSummary } from '../model/session.ts'
import type { TableName } from '../model/tables.ts'
import type { BranchHandle } from './features/runs/program/branch.ts'
import type { RunEnding } from './features/runs/writing/ending.ts'
import type { FollowItem } from './features/work/item-origin.ts'
import type { ClockHandlers } from './features/work/scheduler.ts'
import type { Engine, Scope } from './wiring/scope.ts'
import type { AnyDecider } from './writing/decider.ts'
import type { Part } from './writing/part.ts'

/** A session as its features see it: the row as this handle last saw it. */
export interface SessionView {
  readonly scope: Scope
  readonly id: SessionId
  row(): SessionRow
  /** Tells the handle that a feature changed the row. */
  saw(row: SessionRow, revision: number): void
}

/** One feature's share of a session in a list. */
export type ToldSummary = Partial<Omit<SessionSummary, 'counts'>> & { readonly counts?: Partial<SessionSummary['counts']> }

export interface Fork {
  readonly from: SessionId
  readonly to: SessionId
  /** The last shared seq. */
  readonly at: number
}

type Method = (...given: never[]) => unknown

/** The members of a run, each called with the calling branch as first argument. A member that returns no promise gets it when it needs it. */
type RunMethods<Members> = {
  readonly [K in keyof Members]: Members[K] extends Method
    ? (
        branch: ReturnType<Members[K]> extends Promise<unknown> ? BranchHandle : () => BranchHandle,
        ...given: Parameters<Members[K]>
      ) => ReturnType<Members[K]>
    : never
}

export interface Feature<
  StoreMembers extends object = object,
  SessionMembers extends object = object,
  RunMembers extends object = object,
  Deletion extends object = object,
> {
  /** The name of its folder. */
  readonly name: string
  /** Checks its options when a store opens. */
  readonly onOpen?: (engine: Engine) => void
  /** Releases what this process holds, while it can still write. Runs in the order of the list. */
  readonly onClose?: (engine: Engine) => Promise<void>
  /** Folds events into rows, one decider per table. */
  readonly deciders?: readonly AnyDecider[]
  /** Handles items that are due by the clock, by the queue of the scheduler they are in. */
  readonly clocks?: ClockHandlers
  /** Adds parts to every commit that moves a work item, by the kind of the item's origin. */
  readonly follows?: Readonly<Record<string, FollowItem>>
  /** Cleans up when a session is deleted, before its payloads are erased. It may run again after a crash. What it returns joins the report. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most features have nothing to report
  readonly onSessionDeleted?: (scope: Scope, session: SessionId, why: string) => Promise<Deletion | void>
  /** Reasons why rows of a table with a `session` column stay when the session is deleted. */
  readonly keptWithoutSession?: Readonly<Partial<Record<TableName, string>>>
  /** Adds parts to the commit that creates a fork. A text is the reason why a fork begins without the rows of this feature. */
  readonly onForked: ((scope: Scope, fork: Fork) => Promise<readonly Part[]>) | string
  /** Removes derived data of events whose payloads were just erased. A crash may skip it: `rebuild` removes the rest. */
  readonly onErased?: (scope: Scope, events: readonly EventRecord[]) => Promise<void>
  /** Adds to what a list of sessions shows of one. It reads few rows by key or index, because it is called for each session of a page. */
  readonly summary?: (scope: Scope, session: SessionRow) => Promise<ToldSummary>
  /** Adds parts to the commit that ends a run. */
  readonly onRunEnds?: (scope: Scope, run: RunRow, ending: RunEnding) => Promise<readonly Part[]>
  /** Adds parts to the commit after which a run no longer waits for these. */
  readonly onWaitsLeft?: (scope: Scope, waits: readonly Wait[], about: Pick<Part, 'session' | 'run'>) => readonly Part[]
  /** Event types that stand on the tape of a run and change no row. Users cannot append them. */
  readonly tapeTypes?: readonly string[]
  /**
   * Names the values and blobs that the rows of each table refer to, so that garbage collection keeps them. A text is the reason why rows name
   * none. Blobs that stand in a row as `{ digest, bytes }` are found without it.
   */
  readonly refs: Readonly<Partial<Record<TableName, ((row: never) => readonly string[]) | string>>> | string
  /** Cleans up in one tenant when the store is maintained. Returns what it did, by name. */
  readonly onMaintain?: (scope: Scope, now: number) => Promise<Readonly<Record<string, number>>>
  /** Looks for damage in what this feature keeps. Each finding is one sentence. */
  readonly doctor?: (scope: Scope) => Promise<readonly string[]>
  /** Says what an operator should look at. Each finding is one sentence. It reads little, because probes ask often. */
  readonly health?: (scope: Scope) => Promise<readonly string[]>
  /** Members of the store. `only` is the tenant whose work may be done through this view; without it, all tenants. */
  readonly store?: (scope: Scope, only: TenantId | undefined) => StoreMembers
  /** Members of a session. */
  readonly session?: (session: SessionView) => SessionMembers
  /** Members of a run and of its branches. */
  readonly run?: RunMethods<RunMembers>
  /** The members of a run that return no promise. */
  readonly runHandles?: readonly (keyof RunMembers & string)[]
}

// biome-ignore lint/suspicious/noExplicitAny: a list of features of every shape
export type AnyFeature = Feature<any, any, any, any>

type Every<Union> = (Union extends unknown ? (member: Union) => void : never) extends (member: infer All) => void ? All : never
/** The members that the features of a list add to a store, to a session and to a run. */
export type StoreMembersOf<F> = Every<F extends Feature<infer Members, infer _S, infer _R, infer _D> ? Members : never>
export type SessionMembersOf<F> = Every<F extends Feature<infer _S, infer Members, infer _R, infer _D> ? Members : never>
export type RunMembersOf<F> = Every<F extends Feature<infer _S, infer _H, infer Members, infer _D> ? Members : never>
/** The members that the features of a list add to the report of a deleted session. */
export type DeletionOf<F> = Every<F extends Feature<infer _S, infer _H, infer _R, infer Members> ? Members : never>

type RunMethod = (branch: BranchHandle, ...given: readonly unknown[]) => unknown

/** The features of an engine, folded over their list. Hooks run in the order of the list. */
export class FeatureSet {
  readonly list: readonly AnyFeature[]
  readonly deciders: readonly AnyDecider[]
  readonly clocks: ClockHandlers
  readonly follows: Readonly<Record<string, FollowItem>>
  readonly tapeTypes: readonly string[]
  /** Tables whose rows refer to values and blobs. */
  readonly referring: readonly { readonly table: TableName; readonly refs: (row: never) => readonly string[] }[]
  readonly #run: readonly (readonly [string, RunMethod])[]
  readonly #runHandles: ReadonlySet<string>
  readonly #session: readonly NonNullable<AnyFeature['session']>[]

  constructor(list: readonly AnyFeature[]) {
    this.list = list
    this.deciders = list.flatMap(({ deciders = [] }) => deciders)
    this.clocks = Object.assign({}, ...list.map(({ clocks }) => clocks))
    this.follows = Object.assign({}, ...list.map(({ follows }) => follows))
    this.referring = list.flatMap(({ refs }) =>
      (typeof refs === 'string' ? [] : Object.entries(refs)).flatMap(([table, of]) =>
        typeof of === 'function' ? { table: table as TableName, refs: of } : [],
      ),
    )
    this.tapeTypes = list.flatMap(({ tapeTypes = [] }) => tapeTypes)
    this.#run = list.flatMap(({ run = {} }) => Object.entries(run as Readonly<Record<string, RunMethod>>))
    this.#runHandles = new Set(list.flatMap(({ runHandles = [] }) => runHandles as readonly string[]))
    this.#session = list.flatMap((one) => one.session ?? [])
  }

  opened(engine: Engine): void {
    for (const { onOpen } of this.list) onOpen?.(engine)
  }

  async closed(engine: Engine): Promise<void> {
    for (const { onClose } of this.list) await onClose?.(engine)
  }

  addStoreMembers(handle: object, scope: Scope, only: TenantId | undefined): void {
    for (const { store } of this.list) Object.assign(handle, store?.(scope, only))
  }

  /** Gives a handle its members. `branch` is called at every use: a run that has ended has none. */
  addRunMembers(handle: object, branch: () => BranchHandle): void {
    for (const [name, method] of this.#run)
      (handle as Record<string, unknown>)[name] = this.#runHandles.has(name)
        ? (...given: readonly unknown[]) => method(branch as never, ...given)
        : async (...given: readonly unknown[]) => method(branch(), ...given)
  }

  addSessionMembers(handle: object, session: SessionView): void {
    for (const members of this.#session) Object.assign(handle, members(session))
  }

  /** Returns what the features add to the report. */
  async sessionDeleted(scope: Scope, session: SessionId, why: string): Promise<object> {
    const report = {}
    for (const { onSessionDeleted } of this.list) Object.assign(report, await onSessionDeleted?.(scope, session, why))
    return report
  }

  async forked(scope: Scope, fork: Fork): Promise<readonly Part[]> {
    return parts(this.list.map(({ onForked }) => (typeof onForked === 'function' ? onForked(scope, fork) : undefined)))
  }

  /** The last feature that knows a member tells it; of counts and of `activeAt` it is the largest. */
  async summary(scope: Scope, session: SessionRow): Promise<SessionSummary> {
    const told: readonly ToldSummary[] = await Promise.all(this.list.map(({ summary }) => summary?.(scope, session) ?? {}))
    const counts: Record<keyof SessionSummary['counts'], number> = { ...NO_COUNTS }
    for (const { counts: some = {} } of told)
      for (const [name, count] of Object.entries(some) as [keyof typeof counts, number][]) counts[name] = Math.max(counts[name], count)
    const times = told.flatMap(({ activeAt }) => activeAt ?? [])
    return { ...Object.assign({}, ...told), counts, activeAt: Math.max(session.changedAt, ...times) }
  }

  async erased(scope: Scope, events: readonly EventRecord[]): Promise<void> {
    for (const { onErased } of this.list) await onErased?.(scope, events)
  }

  async runEnds(scope: Scope, run: RunRow, ending: RunEnding): Promise<readonly Part[]> {
    return parts(this.list.map(({ onRunEnds }) => onRunEnds?.(scope, run, ending)))
  }

  waitsLeft(scope: Scope, waits: readonly Wait[], about: Pick<Part, 'session' | 'run'>): readonly Part[] {
    return this.list.flatMap(({ onWaitsLeft }) => onWaitsLeft?.(scope, waits, about) ?? [])
  }

  /** The sums of what the features did, by name. */
  async maintained(scope: Scope, now: number): Promise<Readonly<Record<string, number>>> {
    return Object.assign({}, ...(await Promise.all(this.list.map(({ onMaintain }) => onMaintain?.(scope, now)))))
  }

  async health(scope: Scope): Promise<readonly string[]> {
    return (await Promise.all(this.list.map((one) => one.health?.(scope) ?? []))).flat()
  }

  async doctor(scope: Scope): Promise<readonly string[]> {
    return (await Promise.all(this.list.map((one) => one.doctor?.(scope) ?? []))).flat()
  }
}

const parts = async (given: readonly (Promise<readonly Part[]> | undefined)[]): Promise<readonly Part[]> =>
  (await Promise.all(given)).flatMap((some) => some ?? [])
