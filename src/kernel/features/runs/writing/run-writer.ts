// A run that this process holds: its row, lease and tape. Its lease's fence and its own revision guard every write.

import { assert, InkError, refuse } from '../../../../model/errors.ts'
import type { Receipt } from '../../../../model/event.ts'
import type { RunId, SessionId } from '../../../../model/ids.ts'
import { ownMembers } from '../../../../model/options.ts'
import { isOver, type RunRow, type Slot } from '../../../../model/run.ts'
import type { Usage } from '../../../../model/usage.ts'
import type { Guard } from '../../../../ports/commit.ts'
import type { WriteTime } from '../../../measuring/write-time.ts'
import type { Scope } from '../../../wiring/scope.ts'
import { appendGuarded, type GuardedEvent } from '../../../writing/append.ts'
import { type Done, plan } from '../../../writing/execute.ts'
import { type DoneRow, type Part, part, readRow } from '../../../writing/part.ts'
import { retryConflicts } from '../../../writing/retry-conflicts.ts'
import { type Build, transact } from '../../../writing/transact.ts'
import type { OwnLease } from '../../leases/keeper.ts'
import { keeperOf } from '../../leases/keeper.ts'
import { usagePart } from '../../usage/usage-decider.ts'
import { never, Parking } from '../node/parking.ts'
import { PendingBegins } from '../program/begun-effects.ts'
import type { Asked } from '../program/call.ts'
import { Slots } from '../program/call-counts.ts'
import { effectKey } from '../program/effect-key.ts'
import { OpenCalls } from '../program/open-calls.ts'
import { type LeftAppends, type RaceAppends, slotsOf } from '../program/race-appends.ts'
import type { Underway } from '../program/shared-calls.ts'
import { type RunCommand, run as runDecider } from '../run-decider.ts'
import { markKey, markOf } from '../tape/append-mark.ts'
import { Replay, unrecorded } from '../tape/replay.ts'
import { type Entry, Tape } from '../tape/tape.ts'
import { type BuildChange, type ChangeOptions, withEntry } from './change.ts'
import type { OpenedRun } from './opened-run.ts'
import { Segment } from './segment.ts'
import { SharedLock } from './shared-lock.ts'

/** `epoch` is given for events that must not come after a checkpoint which has ended that epoch. */
type RunEvent = Omit<GuardedEvent, 'session' | 'run'> & { readonly epoch?: number }

export class RunWriter {
  readonly scope: Scope
  readonly hold: OwnLease
  readonly replay: Replay
  readonly tape: Tape
  readonly parking: Parking
  readonly since: number
  readonly strict: boolean
  readonly #underway: Underway
  readonly #shared: () => boolean
  readonly slots = new Slots()
  readonly #ending = new AbortController()
  readonly #gate = new SharedLock()
  readonly #segment: Segment
  readonly begun: PendingBegins
  readonly calls = new OpenCalls()
  #row: RunRow
  #revision: number
  /** The number of results that the program has received. It orders the effects. */
  received = 0

  constructor(scope: Scope, { row, revision, hold, underway, shared, sources, since, fresh = false, strict = false }: OpenedRun) {
    this.scope = scope
    this.hold = hold
    this.#row = row
    this.#revision = revision
    this.#underway = underway
    this.#shared = shared
    this.since = since
    this.strict = strict
    this.tape = new Tape(scope, sources, row.origin)
    this.replay = new Replay(
      scope,
      this.tape,
      fresh,
      (diff) => this.diverged(diff),
      strict ? (asked, before) => unrecorded(this.id, asked, before) : undefined,
    )
    this.parking = new Parking(scope)
    this.begun = new PendingBegins((event) => this.#write(event, true))
    this.#segment = new Segment(
      () => this.tape.inSegment,
      (entries) => this.change({ verb: 'seal', id: this.id, entries }),
    )
    const end = () => this.#ending.abort(hold.signal.reason)
    if (hold.signal.aborted) end()
    else hold.signal.addEventListener('abort', end, { once: true })
  }

  get row(): RunRow {
    return this.#row
  }
  get id(): RunId {
    return this.#row.id
  }
  /** Aborted when the lease is lost, when the run is cancelled, and when it is let go. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }
  /** The run and its state, for error details. */
  get about(): Readonly<Record<string, unknown>> {
    return { run: this.id, name: this.#row.name, state: this.#row.state }
  }

  /** A checkpoint was saved or restored: names, branches and results are counted anew. */
  startEpoch(epoch: number): void {
    this.received = 0
    this.slots.startEpoch(epoch)
    if (!this.#shared()) this.#underway.startEpoch(epoch)
  }

  /** Replay: branches that lost a race appended these events and are not run again, so nobody else is given their slots. */
  leaveAppends(left: readonly LeftAppends[], epoch: number): void {
    for (const asked of slotsOf(left, epoch)) {
      this.slots.leave(asked)
      this.replay.leaveAppend(markKey(markOf(this.scope, this.#row.origin, asked)))
    }
  }

  get raceAppends(): RaceAppends {
    return this.#underway.raceAppends
  }

  /** The idempotency key of an effect. */
  keyOf(asked: Asked): string {
    return effectKey(this.scope, this.id, asked)
  }

  /** Throws if nothing can be asked any more, and never resolves if the run was parked. Undefined if the call may go on at once. */
  ready(): Promise<void> | undefined {
    const parked = this.parking.isParked()
    if (parked === false) return void this.checkLive()
    return Promise.resolve(parked).then((left) => (left ? never() : this.checkLive()))
  }

  checkLive(): void {
    if (!this.strict && isOver(this.#row.state)) throw refuse('RUN_FINISHED', this.about)
    if (!this.signal.aborted) return
    // A writer that has lost its lease is refused here, before anything is sent.
    this.scope.engine.audit.note(this.scope.tenant, this.scope.actor, this.signal.reason)
    throw this.signal.reason
  }

  /** Runs one at a time for each key, for all handles. */
  once(key: string, live: () => Promise<Entry>): Promise<Entry> {
    const underway = this.#underway.get(key)
    if (underway) return underway
    const entry = live()
    this.#underway.set(key, entry)
    // A failed entry may be retried. A recorded entry is kept for handles whose tape ends before it.
    entry.then(
      () => this.#shared() || this.#underway.delete(key),
      () => this.#underway.delete(key),
    )
    return entry
  }

  /** Records an event of this run that changes no row. */
  record(event: RunEvent, reserved = true, time?: WriteTime): Promise<Receipt> {
    const told = this.begun.told()
    return told ? told.then(() => this.#write(event, reserved, time)) : this.#write(event, reserved, time)
  }

  async #write({ epoch, ...event }: RunEvent, reserved: boolean, time?: WriteTime): Promise<Receipt> {
    assert(!this.strict, 'a strict replay writes nothing')
    const leave = await this.#segment.enter()
    // Branches of this run change its row too. The gate keeps such a change and this write apart.
    const shared = this.#gate.share()
    const end = shared instanceof Promise ? await shared : shared
    try {
      return await retryConflicts(this.scope, ['runs'], async (attempt) => {
        if (attempt > 1) await this.look()
        this.checkLive()
        // A checkpoint came between: the branch lost a race, and replay after the checkpoint knows nothing of it.
        if (epoch !== undefined && epoch < this.slots.epoch) return never()
        const guards: readonly Guard[] = [this.hold.guard, { kind: 'row', table: 'runs', id: this.id, revision: this.#revision }]
        try {
          return await appendGuarded(this.scope, { ...event, session: this.#row.session, run: this.id }, { guards, reserved, time })
        } catch (error) {
          throw this.#told(error)
        }
      })
    } finally {
      end()
      leave()
    }
  }

  /** Changes the row of the run, together with other rows. */
  async change(command: RunCommand, parts: readonly Part[] = [], options: ChangeOptions = {}): Promise<Done> {
    const { guards = [], nodes = [], whole, ...rest } = ownMembers(options)
    const known = [this.#own(command, whole), ...parts]
    return this.#alone(command.verb, async () => {
      const done = await plan(this.scope, known, { guards: [this.hold.guard, ...guards], nodes, ...this.#opens(command.verb), ...rest })
      this.#left(command.verb, done.rows[0] as DoneRow<RunRow>)
      return done
    })
  }

  /** Changes the row of the run, together with shares that are built again when what they were built from has changed. */
  transact<T>(verb: RunCommand['verb'], build: BuildChange<T>, options: Pick<ChangeOptions, 'at' | 'time'> = {}): Promise<T> {
    const together: Build<T> = async (scope, round) => {
      const { command, whole, shares } = await build(scope, round)
      const [share, ...others] = shares
      return [withEntry(this.#own(command, whole), this.hold.guard, share, (row) => this.#left(verb, row)), ...others]
    }
    return this.#alone(verb, () => transact(this.scope, together, { ...this.#opens(verb), ...options }))
  }

  #own(command: RunCommand, whole: boolean | undefined): Part<RunRow> {
    const { id, session } = this.#row
    return part(runDecider, id, command, { session, run: id, seen: () => ({ body: this.#row, revision: this.#revision }), whole })
  }

  /** A closed session refuses new steps, but ends are still recorded. */
  #opens(verb: RunCommand['verb']): { readonly open?: SessionId } {
    return STEPS.includes(verb) ? { open: this.#row.session } : {}
  }

  #left(verb: RunCommand['verb'], { body, revision }: DoneRow<RunRow>): void {
    if (body) this.#see(body, revision)
    if (verb === 'checkpoint') this.#segment.restart()
  }

  async #alone<T>(verb: RunCommand['verb'], write: () => Promise<T>): Promise<T> {
    assert(!this.strict, 'a strict replay writes nothing')
    const isEntry = ENTRIES.includes(verb)
    if (isEntry) await this.begun.told()
    const leave = isEntry ? await this.#segment.enter() : undefined
    const end = await this.#gate.alone()
    try {
      return await write()
    } catch (error) {
      throw this.#told(error)
    } finally {
      end()
      leave?.()
    }
  }

  /** Counts usage. True where the sum would overflow: then nothing is counted, and that is recorded. */
  async use(slot: Slot, usage: Usage, at: number): Promise<boolean> {
    const command = { verb: 'use', id: this.id, slot, usage } as const
    try {
      await this.change(command, [usagePart(this.scope, this.#row.session, this.id, usage, at)], { at })
      return false
    } catch (error) {
      if (!(error instanceof InkError && error.code === 'USAGE_INVALID')) throw error
      await this.change({ ...command, overflow: true }, [], { at })
      return true
    }
  }

  /** Reads the row again: a caller may have cancelled the run, or resolved an effect. */
  async refresh(): Promise<void> {
    await this.look()
    this.checkLive()
  }

  /** Does the same without the check, for callers that only want to end the run. */
  async look(): Promise<void> {
    const { body, revision } = await readRow(this.scope, 'runs', this.id)
    if (!body) throw refuse('RUN_UNKNOWN', { run: this.id, tenant: this.scope.tenant })
    this.#see(body, revision)
  }

  /** The program has diverged from the tape. Nothing is written after that, so that they do not diverge further. */
  diverged(diff: string): InkError {
    const error = refuse('REPLAY_DIVERGED', { run: this.id, diff })
    this.end(error)
    return error
  }

  /** Ends all handles: nothing is written any more. */
  end(reason: unknown): void {
    this.#ending.abort(reason)
  }

  #see(row: RunRow, revision: number): void {
    if (revision < this.#revision) return
    this.#row = row
    this.#revision = revision
    if (isOver(row.state)) this.#ending.abort(refuse('RUN_FINISHED', this.about))
  }

  #told(error: unknown): unknown {
    if (error instanceof InkError && error.code === 'FENCE_LOST') keeperOf(this.scope.engine).lose(this.hold, error)
    // The outcome of the write is unknown, so a program that went on could see something else than replay will. A lost claim stays lost: it is
    // not recorded, and replay would ask for it again.
    if (error instanceof InkError && ENDING.includes(error.code)) this.end(error)
    return error
  }
}

const ENDING: readonly string[] = ['OUTCOME_UNKNOWN', 'INBOX_CLAIM_LOST']

const STEPS: readonly string[] = ['wait', 'use', 'take', 'checkpoint']

/** The commands that add an entry to the tape, and so need room in its segment. */
const ENTRIES: readonly string[] = ['wait', 'endWait', 'use', 'take']
