// The calls that a program makes on its run. Each call is found on the tape by branch, name and ordinal, in any scheduling order. A call
// that is not there is executed and recorded before the program sees its result.

import { refuse } from '../../../../model/errors.ts'
import type { Receipt } from '../../../../model/event.ts'
import type { Jsonify } from '../../../../model/jsonify.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../../model/options.ts'
import type { Stored } from '../../../../model/run.ts'
import { type Duration, milliseconds } from '../../../../model/time.ts'
import { isInline, load } from '../../../content/json-or-blob.ts'
import type { RunMembers } from '../../../features.ts'
import { takeName } from '../../../naming/names.ts'
import { withMembers } from '../../../wiring/with-members.ts'
import { checkNew } from '../../../writing/append.ts'
import { takeUsage, type UsageCall, usageOf } from '../../usage/ledger.ts'
import { never } from '../node/parking.ts'
import { type Program, takeProgram, type WithInput } from '../program.ts'
import { TOO_LARGE } from '../run-decider.ts'
import { markKey, markOf } from '../tape/append-mark.ts'
import type { Begins } from '../tape/replay.ts'
import type { Entry } from '../tape/tape.ts'
import type { RunWriter } from '../writing/run-writer.ts'
import type { All, Begun, Branch, Branches, EffectFunction, Within } from './branch-calls.ts'
import { type Asked, type AskKind, entryKey, placeOf } from './call.ts'
import { type Child, childOf } from './child.ts'
import { checkEffectOptions, type EffectOptions, effectError, runEffect, type Settled, settle } from './effect.ts'
import { checkInput, declare } from './effect-input.ts'
import { EffectWork, inEffect, refuseNested } from './effect-work.ts'
import { allOf, raceOf } from './parallel.ts'
import { draw } from './random.ts'
import { pendingSignal } from './signal.ts'
import { type Ended, waitFor } from './wait.ts'

export class BranchHandle extends withMembers<RunMembers>() implements Branch {
  readonly open: RunWriter
  readonly path: string
  /** Aborted when the branch is abandoned. */
  readonly leaving: AbortSignal
  /** The parent branch; undefined for the run itself. */
  readonly parent: BranchHandle | undefined
  /** The epoch in which the branch began. */
  readonly #began: number
  #now: number
  #drawn = 0
  #groups = 0

  constructor(open: RunWriter, path: string, now: number, signal: AbortSignal, parent?: BranchHandle) {
    super()
    open.scope.engine.features.addRunMembers(this, () => this)
    this.open = open
    this.path = path
    this.#began = open.slots.epoch
    this.#now = now
    this.leaving = signal
    this.parent = parent
  }

  /** The run itself goes on after a checkpoint; a branch ends before it. */
  get epoch(): number {
    return this.parent ? this.#began : this.open.slots.epoch
  }

  /** Names the branch among those of all epochs. */
  get place(): string {
    return placeOf(this.path, this.epoch)
  }

  /** The branch in which the current call is made: a child's handle may be used in other branches than the one that started it. */
  here(): BranchHandle {
    const { context } = this.open.scope.engine.environment
    if (!context) return this
    const at = context.current()
    const current = at instanceof EffectWork ? at.branch : at
    let here: BranchHandle = current instanceof BranchHandle && current.open === this.open ? current : this.#root
    // Code that outlives its branch belongs to the parent branch.
    while (here.parent && !this.open.parking.isUnderway(here.path) && !this.open.replay.isLost(here.place)) here = here.parent
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
    this.#mayAsk()
    return draw(this.open.scope, this.open.row.origin, this.epoch, this.path, ++this.#drawn)
  }

  async effect<T>(name: string, work: EffectFunction<T>, given?: EffectOptions): Promise<Jsonify<T>> {
    const options = optionsOf(given, 'effect')
    if (given !== undefined) checkEffectOptions(options)
    if (typeof work !== 'function') throw invalidOption('work', 'a function', work)
    const input = declare(this.open.scope, options.input)
    const entry = await this.asks(
      'effect',
      name,
      (asked, before) => runEffect(this.open, asked, before, inEffect(this, asked.name, work), options, this.leaving, input),
      { check: input && ((asked, before) => checkInput(this.open, asked, before, input)) },
    )
    return this.#answer<Jsonify<T>>(name, entry)
  }

  async begin<T = unknown>(name: string): Promise<Begun<T>> {
    const asked = this.slot('effect', name)
    return this.open.calls.during(`effect '${asked.name}'`, this.place, () => this.#begins<T>(asked))
  }

  async #begins<T>(asked: Asked): Promise<Begun<T>> {
    await this.open.ready()
    const entry = await this.open.replay.find(asked)
    if (entry?.done) return { done: true, result: await this.#answer<Jsonify<T>>(asked.name, this.received(entry)) }
    if (!entry) {
      await this.open.replay.clear(asked)
      if (this.open.replay.isLost(this.place)) return never()
      this.open.begun.begins(asked, this.open.received)
    }
    // The run is not parked until the outcome is on the tape, unless the branch has lost a race.
    const ends = [this.open.parking.hold(), this.open.calls.begins(`effect '${asked.name}'`, this.place)]
    const working = () => void ends.map((end) => end())
    this.leaving.addEventListener('abort', working, { once: true })
    const startedAt = this.open.scope.engine.environment.clock.now()
    let told = false
    const record = async (settled: Settled): Promise<Entry> => {
      if (told) throw refuse('EFFECT_SETTLED', { ...this.open.about, effect: asked.name })
      told = true
      try {
        const entry = await this.open.once(entryKey(asked), () => settle(this.open, asked, settled, { startedAt, begun: true }))
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
      settle: async (result) => this.#answer<Jsonify<T>>(asked.name, await record({ result })),
      fail: async (error) => void (await record({ error })),
    }
  }

  async sleep(duration: Duration): Promise<void> {
    const ms = milliseconds(duration)
    await this.#waits('sleep', 'sleep', { ms }, async (_, late) => (late ? { outcome: {} } : undefined))
  }

  async until(time: Date | number): Promise<void> {
    // Rejects numbers outside the range of Date too.
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

  async usage(...given: UsageCall): Promise<void> {
    const usage = takeUsage(usageOf(given), this.open.about)
    if (!usage) return
    const at = this.open.scope.engine.environment.clock.now()
    const entry = await this.asks('usage', `${usage.source}/${usage.model}`, async ({ kind: _, ...slot }) => {
      const overflow = await this.open.use(slot, usage, at)
      return { ...slot, kind: 'usage', seq: 0, at, done: true, ...(overflow && { outcome: { overflow } }) }
    })
    if (entry.outcome?.overflow) throw refuse('USAGE_INVALID', { ...this.open.about, why: TOO_LARGE })
  }

  async append(type: string, data: unknown): Promise<Receipt> {
    // An invalid event is refused before it counts as a call, so that replay does not wait for it.
    checkNew(this.open.scope, type, data)
    const asked = this.slot('append', type)
    return this.open.calls.during(`append '${type}'`, this.place, () => this.#appends(asked, type, data))
  }

  async #appends(asked: Asked, type: string, data: unknown): Promise<Receipt> {
    this.open.raceAppends.note(asked, this.here().path)
    await this.open.ready()
    const mark = markOf(this.open.scope, this.open.row.origin, asked)
    const found = await this.open.replay.find(asked, markKey(mark))
    if (found?.receipt) return this.received(found).receipt as Receipt
    await this.open.replay.clear(asked)
    if (!(await this.open.raceAppends.mayAppend(asked)) || this.open.replay.isLost(this.place)) return never()
    const appended = await this.open.once(entryKey(asked), async () => {
      const at = this.open.scope.engine.environment.clock.now()
      const receipt = await this.open.record({ type, data, mark, at, epoch: this.epoch }, false)
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

  async child(program: string | Program, options?: WithInput<string>): Promise<Child<never>> {
    const { input, ...unknown } = optionsOf(options, 'child')
    checkKnown(unknown, 'a child')
    return childOf(this, takeProgram(this.open.scope, program), input)
  }

  /** Returns the entry from the tape, or executes the call and records it. */
  async asks(
    kind: AskKind,
    name: string,
    live: (asked: Asked, before: Entry | undefined) => Promise<Entry>,
    { check, begins }: { readonly check?: ((asked: Asked, before: Entry) => Promise<void>) | undefined; readonly begins?: Begins } = {},
  ): Promise<Entry> {
    const asked = this.slot(kind, name)
    const end = this.open.calls.begins(`${kind} '${name}'`, this.place)
    try {
      await this.open.ready()
      const before = await this.open.replay.recorded(asked, check && ((entry) => check(asked, entry)), begins)
      if (before?.done) return this.received(before)
      if (this.open.replay.isLost(this.place)) return await never()
      return this.received(await this.open.once(entryKey(asked), () => live(asked, before)))
    } finally {
      end()
    }
  }

  received(entry: Entry): Entry {
    this.open.received++
    this.#now = Math.max(this.#now, entry.at)
    return entry
  }

  slot(kind: AskKind, name: string): Asked {
    const taken = takeName(this.open.scope, name, 'a step of a run')
    if (kind === 'effect' || kind === 'start') refuseNested(this, taken)
    this.#mayAsk()
    return this.open.slots.next(this.path, kind, taken, this.epoch)
  }

  /** Refuses a call while a checkpoint is being saved or restored. The call of a branch that lost a race is never answered anyway. */
  #mayAsk(): void {
    const { slots, replay, about } = this.open
    if (!replay.isLost(this.place)) slots.checkSettled(about)
    slots.asks()
  }

  async #answer<T>(name: string, entry: Entry): Promise<T> {
    if (entry.error) throw effectError(name, { run: this.open.id }, entry.error, entry.attempts ?? 1)
    return (isInline(entry.value) ? entry.value?.value : await load(this.open.scope, entry.value)) as T
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

  /** Creates a child branch. */
  branchOff(path: string, leaving: AbortSignal): BranchHandle {
    return new BranchHandle(this.open, path, this.#now, leaving, this)
  }

  /** The number of the next group of branches. */
  nextGroup(): number {
    this.#mayAsk()
    return ++this.#groups
  }

  /** The run itself counts groups and draws anew. Its time never goes back. */
  startEpoch(epoch: number, now: number): void {
    this.open.startEpoch(epoch)
    this.#drawn = 0
    this.#groups = 0
    this.learn(now)
  }

  /** Advances `now()` to the latest time that any child branch has seen. */
  learn(now: number): void {
    this.#now = Math.max(this.#now, now)
  }
}

export const ms = (within: Duration | undefined): number | undefined => (within === undefined ? undefined : milliseconds(within))
