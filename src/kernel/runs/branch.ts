// What a program asks of its run. Each asking is found on the tape by branch, name and ordinal, whatever the scheduling was; what is not there
// happens, is recorded, and is then seen by the program.

import { refuse } from '../../model/errors.ts'
import type { Receipt } from '../../model/event.ts'
import { checkKnown, invalidOption, optionsOf } from '../../model/options.ts'
import type { Stored } from '../../model/run.ts'
import { type Duration, milliseconds } from '../../model/time.ts'
import { checkNew } from '../append.ts'
import { withMembers } from '../feature.ts'
import type { RunMembers } from '../features.ts'
import { load } from '../json-or-blob.ts'
import { takeName } from '../names.ts'
import { markKey, markOf } from './append-mark.ts'
import { type Asked, type AskKind, entryKey } from './asked.ts'
import { type Child, childOf } from './child.ts'
import { checkEffectOptions, type EffectContext, type EffectOptions, effectError, runEffect, type Settled, settle } from './effect.ts'
import { EffectWork, inEffect, refuseNested } from './effect-work.ts'
import { allOf, raceOf } from './group.ts'
import { never } from './parking.ts'
import { draw } from './random.ts'
import { TOO_LARGE } from './run-decider.ts'
import type { RunWriter } from './run-writer.ts'
import { pendingSignal } from './signal.ts'
import type { Entry } from './tape.ts'
import { takeUsage, type UsageGiven } from './usage.ts'
import { type Ended, waitFor } from './wait.ts'

export interface Within {
  /** How long at most. */
  readonly within?: Duration
}

export type Begun<T = unknown> =
  | { readonly done: true; readonly result: T }
  | { readonly done: false; readonly key: string; settle(result: T): Promise<T>; fail(error: unknown): Promise<void> }

export interface Branch extends RunMembers {
  /** Calls `work` once and records what came of it; under replay it answers from the tape. */
  effect<T>(name: string, work: (context: EffectContext) => T | Promise<T>, options?: EffectOptions): Promise<T>
  /** The same for those who do the work themselves: `settle` records it. */
  begin<T = unknown>(name: string): Promise<Begun<T>>
  sleep(duration: Duration): Promise<void>
  until(time: Date | number): Promise<void>
  /** The next signal of this name to the session; undefined when its time is over. */
  signal<T = unknown>(name: string, options?: Within): Promise<T | undefined>
  usage(usage: UsageGiven): Promise<void>
  /** An event of this run, written once. */
  append(type: string, data: unknown): Promise<Receipt>
  /** All branches at once; in the order given, and by name. */
  all<B extends Branches>(branches: B): Promise<All<B>>
  /** The first branch to come back; the others are left. */
  race<B extends Branches>(branches: B): Promise<Awaited<ReturnType<B[keyof B]>>>
  /** A run of its own, taken up by whoever has a handler for it. */
  child(name: string, options?: { readonly input?: unknown }): Promise<Child>
  /** Unix milliseconds at the last thing this branch learned: the same under replay. */
  now(): number
  /** From 0 to below 1: the same under replay. */
  random(): number
}

export type Branches = Readonly<Record<string, (branch: Branch) => unknown>>

export type All<B extends Branches> = Awaited<ReturnType<B[keyof B]>>[] & {
  readonly [K in keyof B]: Awaited<ReturnType<B[K]>>
}

export class BranchHandle extends withMembers<RunMembers>() implements Branch {
  readonly open: RunWriter
  readonly path: string
  /** Aborted when nobody waits for this branch any more. */
  readonly leaving: AbortSignal
  /** Whose branch this is; undefined for the run itself. */
  readonly parent: BranchHandle | undefined
  #now: number
  #drawn = 0
  #groups = 0

  constructor(open: RunWriter, path: string, now: number, signal: AbortSignal, parent?: BranchHandle) {
    super()
    Object.assign(
      this,
      open.scope.engine.features.runMembers(() => this),
    )
    this.open = open
    this.path = path
    this.#now = now
    this.leaving = signal
    this.parent = parent
  }

  /** The branch of the same run in which this is asked: a child is known to more of them than the one that started it. */
  here(): BranchHandle {
    const { context } = this.open.scope.engine.environment
    if (!context) return this
    const at = context.current()
    const current = at instanceof EffectWork ? at.branch : at
    let here: BranchHandle = current instanceof BranchHandle && current.open === this.open ? current : this.#root
    // What goes on behind a branch that has come back is its parent's to wait for.
    while (here.parent && !this.open.parking.isUnderway(here.path) && !this.open.replay.isLost(here.path)) here = here.parent
    return here
  }

  get #root(): BranchHandle {
    let root: BranchHandle = this
    while (root.parent) root = root.parent
    return root
  }

  now(): number {
    return this.#now
  }

  random(): number {
    return draw(this.open.scope, this.open.row.origin, this.path, ++this.#drawn)
  }

  async effect<T>(name: string, work: (context: EffectContext) => T | Promise<T>, given?: EffectOptions): Promise<T> {
    const options = optionsOf(given, 'effect')
    if (given !== undefined) checkEffectOptions(options)
    if (typeof work !== 'function') throw invalidOption('work', 'a function', work)
    const entry = await this.asks('effect', name, (asked, before) =>
      runEffect(this.open, asked, before, inEffect(this, asked.name, work), options, this.leaving),
    )
    return this.#answer<T>(name, entry)
  }

  async begin<T = unknown>(name: string): Promise<Begun<T>> {
    const asked = this.slot('effect', name)
    await this.open.ready()
    const entry = await this.open.replay.find(asked)
    if (entry?.done) return { done: true, result: await this.#answer<T>(asked.name, this.received(entry)) }
    if (!entry) {
      await this.open.replay.clear(asked)
      if (this.open.replay.isLost(this.path)) return never()
      this.open.begun.begins(asked, this.open.received)
    }
    // Until it is on the tape the run stays here, as for an effect; in a branch that lost a race nobody waits for it.
    const working = this.open.parking.hold()
    this.leaving.addEventListener('abort', working, { once: true })
    let told = false
    const record = async (settled: Settled): Promise<Entry> => {
      if (told) throw refuse('EFFECT_SETTLED', { ...this.open.about, effect: asked.name })
      told = true
      try {
        const entry = await this.open.once(entryKey(asked), () => settle(this.open, asked, settled, { begun: true }))
        this.leaving.removeEventListener('abort', working)
        working()
        return this.received(entry)
      } catch (error) {
        told = false
        throw error
      }
    }
    return {
      done: false,
      key: this.open.keyOf(asked),
      settle: async (result) => this.#answer<T>(asked.name, await record({ result })),
      fail: async (error) => void (await record({ error })),
    }
  }

  async sleep(duration: Duration): Promise<void> {
    const ms = milliseconds(duration)
    await this.#waits('sleep', 'sleep', { ms }, async (_, late) => (late ? { outcome: {} } : undefined))
  }

  async until(time: Date | number): Promise<void> {
    // Also of a number: what is no date is beyond the end of time.
    const until = typeof time === 'number' || time instanceof Date ? new Date(time).getTime() : Number.NaN
    if (!Number.isFinite(until)) throw invalidOption('time', 'a Date or Unix milliseconds', time)
    await this.#waits('sleep', 'until', { until }, async (_, late) => (late ? { outcome: {} } : undefined))
  }

  async signal<T = unknown>(name: string, options?: Within): Promise<T | undefined> {
    const { within, ...unknown } = optionsOf(options, 'signal')
    checkKnown(unknown, 'a signal')
    const taken = takeName(this.open.scope, name, 'a signal')
    const outcome = await this.#waits('signal', taken, { ms: ms(within) }, (_, late) => pendingSignal(this.open, taken, late))
    return (await load(this.open.scope, outcome.value as Stored | undefined)) as T | undefined
  }

  async usage(given: UsageGiven): Promise<void> {
    const usage = takeUsage(given, this.open.about)
    if (!usage) return
    const at = this.open.scope.engine.environment.clock.now()
    const entry = await this.asks('usage', `${usage.source}/${usage.model}`, async ({ kind: _, ...slot }) => {
      const overflow = await this.open.use(slot, usage, at)
      return { ...slot, kind: 'usage', seq: 0, at, done: true, ...(overflow && { outcome: { overflow } }) }
    })
    if (entry.outcome?.overflow) throw refuse('USAGE_INVALID', { ...this.open.about, why: TOO_LARGE })
  }

  async append(type: string, data: unknown): Promise<Receipt> {
    // What would be refused is refused before it is asked for: nothing of it is on the tape, and replay need not wait for it.
    checkNew(this.open.scope, type, data)
    const asked = this.slot('append', type)
    await this.open.ready()
    const mark = markOf(this.open.scope, this.open.row.origin, asked)
    const found = await this.open.replay.find(asked, markKey(mark))
    if (found?.receipt) return this.received(found).receipt as Receipt
    await this.open.replay.clear(asked)
    if (this.open.replay.isLost(this.path)) return never()
    const appended = await this.open.once(entryKey(asked), async () => {
      const at = this.open.scope.engine.environment.clock.now()
      const receipt = await this.open.record({ type, data, mark, at }, false)
      return { ...asked, seq: receipt.seq, at, done: true, receipt }
    })
    return this.received(appended).receipt as Receipt
  }

  all<B extends Branches>(branches: B): Promise<All<B>> {
    return allOf(this, branches)
  }

  race<B extends Branches>(branches: B): Promise<Awaited<ReturnType<B[keyof B]>>> {
    return raceOf(this, branches)
  }

  async child(name: string, options?: { readonly input?: unknown }): Promise<Child> {
    const { input, ...unknown } = optionsOf(options, 'child')
    checkKnown(unknown, 'a child')
    return childOf(this, takeName(this.open.scope, name, 'a run'), { input })
  }

  /** On the tape, or live and then on the tape. */
  async asks(kind: AskKind, name: string, live: (asked: Asked, before: Entry | undefined) => Promise<Entry>): Promise<Entry> {
    const asked = this.slot(kind, name)
    await this.open.ready()
    const before = await this.open.replay.find(asked)
    if (before?.done) return this.received(before)
    await this.open.replay.clear(asked)
    if (this.open.replay.isLost(this.path)) return never()
    return this.received(await this.open.once(entryKey(asked), () => live(asked, before)))
  }

  received(entry: Entry): Entry {
    this.open.received++
    this.#now = Math.max(this.#now, entry.at)
    return entry
  }

  slot(kind: AskKind, name: string): Asked {
    const taken = takeName(this.open.scope, name, 'a step of a run')
    if (kind === 'effect' || kind === 'start') refuseNested(this, taken)
    return this.open.slot(this.path, kind, taken)
  }

  async #answer<T>(name: string, entry: Entry): Promise<T> {
    if (entry.error) throw effectError(name, { run: this.open.id }, entry.error, entry.attempts ?? 1)
    return (await load(this.open.scope, entry.value)) as T
  }

  async #waits(
    kind: 'sleep' | 'signal',
    name: string,
    time: { readonly ms?: number | undefined; readonly until?: number },
    check: (wait: { readonly until?: number }, late: boolean) => Promise<Ended | undefined>,
  ): Promise<Readonly<Record<string, unknown>>> {
    const entry = await this.asks(kind, name, (asked, before) => waitFor(this.open, asked, before, { kind, ...time, check }, this.leaving))
    return entry.outcome ?? {}
  }

  /** A branch of this one. */
  branchOff(path: string, leaving: AbortSignal): BranchHandle {
    return new BranchHandle(this.open, path, this.#now, leaving, this)
  }

  /** The number of the next group of branches. */
  nextGroup(): number {
    return ++this.#groups
  }

  /** What its branches learned, it knows. */
  learn(now: number): void {
    this.#now = Math.max(this.#now, now)
  }
}

export const ms = (within: Duration | undefined): number | undefined => (within === undefined ? undefined : milliseconds(within))
