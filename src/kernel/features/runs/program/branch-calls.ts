// The calls of a branch, as programs see them.

import type { Receipt } from '../../../../model/event.ts'
import type { Jsonify, Storable } from '../../../../model/jsonify.ts'
import type { Duration } from '../../../../model/time.ts'
import type { RunMembers } from '../../../features.ts'
import type { UsageCall } from '../../usage/ledger.ts'
import type { OptionsFor, Program, ResultOf, WithInput } from '../program.ts'
import type { Child } from './child.ts'
import type { EffectContext, EffectOptions } from './effect.ts'

export interface Within {
  /** The timeout. The default is none. */
  readonly within?: Duration
}

export type Begun<T = unknown> =
  | { readonly done: true; readonly result: Jsonify<T> }
  | {
      readonly done: false
      readonly key: string
      settle(result: T & Storable<T>): Promise<Jsonify<T>>
      fail(error: unknown): Promise<void>
    }

/** Its result is stored, so a wrapper of `effect` declares its work as this type. */
export type EffectFunction<T> = ((context: EffectContext) => T | Promise<T>) & Storable<T>

export interface Branch extends RunMembers {
  /** Calls `work` once and records its outcome. Returns the outcome as it is recorded, so that the first time and replay agree. */
  effect<T>(name: string, work: EffectFunction<T>, options?: EffectOptions): Promise<Jsonify<T>>
  /** Like `effect`, for programs that do the work themselves: `settle` or `fail` records the outcome. */
  begin<T = unknown>(name: string): Promise<Begun<T>>
  sleep(duration: Duration): Promise<void>
  until(time: Date | number): Promise<void>
  /** Waits for the next signal of this name to the session. Returns undefined on timeout. */
  signal<T = unknown>(name: string, options?: Within): Promise<T | undefined>
  /** Counts usage once. Takes the usage object of the AI SDK: `run.usage(result.usage, { model: 'm' })`. */
  usage(...usage: UsageCall): Promise<void>
  /** Appends an event of this run, once. */
  append(type: string, data: unknown): Promise<Receipt>
  /** Runs all branches concurrently. The results are in the given order, and by name. */
  all<B extends Branches>(branches: B): Promise<All<B>>
  /** Returns the result of the first branch to return; the others are abandoned. */
  race<B extends Branches>(branches: B): Promise<Awaited<ReturnType<B[keyof B]>>>
  /** Starts a child run, by its program or by its name. Any node that has a handler for it executes it. */
  child<P extends string | Program>(program: P, ...options: OptionsFor<WithInput<P>>): Promise<Child<ResultOf<P>>>
  /** Unix milliseconds of the latest result that this branch received: the same under replay. */
  now(): number
  /** A random number from 0 to below 1: the same under replay. */
  random(): number
}

export type Branches = Readonly<Record<string, (branch: Branch) => unknown>>

export type All<B extends Branches> = Awaited<ReturnType<B[keyof B]>>[] & {
  readonly [K in keyof B]: Awaited<ReturnType<B[K]>>
}
