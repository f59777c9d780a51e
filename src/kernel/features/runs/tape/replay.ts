// Replay never guesses: nothing new begins while the tape has an entry that the program has not asked for. An unchanged program asks for
// all of them. A program that goes quiet or ends before that has changed.

import { type InkError, refuse } from '../../../../model/errors.ts'
import type { RunId } from '../../../../model/ids.ts'
import { limits } from '../../../../model/limits.ts'
import type { Scope } from '../../../wiring/scope.ts'
import { type Asked, entryKey, placeOf } from '../program/call.ts'
import { LostPlaces } from '../program/lost-places.ts'
import type { Entry, Tape } from './tape.ts'

interface Blocked {
  readonly asked: Asked
  readonly go: () => void
  readonly fail: (error: InkError) => void
}

/** Called before a call begins that has no answer on the tape. It may refuse the call, which then leaves nothing there. */
export type Begins = (() => Promise<void>) | undefined

const TOLD = 8

export class Replay {
  readonly #scope: Scope
  readonly #tape: Tape
  readonly #blocked = new Set<Blocked>()
  /** Places of branches that lost a race. Replay does not wait for their entries. */
  readonly #lost = new LostPlaces()
  /** Events that those branches appended. */
  readonly #left = new Set<string>()
  readonly #parted: (diff: string) => InkError
  /** Creates the error for a call that has no record. Only under strict replay, which executes nothing. */
  readonly #unrecorded: ((asked: Asked, before: Entry | undefined) => InkError) | undefined
  #live: boolean
  #activity = 0
  #replayed = 0
  #watching = false
  #hasLost = false

  constructor(
    scope: Scope,
    tape: Tape,
    live: boolean,
    parted: (diff: string) => InkError,
    unrecorded?: (asked: Asked, before: Entry | undefined) => InkError,
  ) {
    this.#unrecorded = unrecorded
    this.#live = live
    this.#parted = parted
    this.#scope = scope
    this.#tape = tape
  }

  /** Number of calls that the tape has answered so far. */
  get replayed(): number {
    return this.#replayed
  }

  /** The entry on the tape, or undefined. An entry that `check` refuses does not count as an answer. */
  async find(asked: Asked, key = entryKey(asked), check?: (entry: Entry) => Promise<void>, begins?: Begins): Promise<Entry | undefined> {
    this.#activity++
    const entry = this.#live ? undefined : await this.#tape.take(key)
    this.#activity++
    if (entry && check) await check(entry)
    if (!entry?.done && begins) await begins()
    if (entry?.done) this.#replayed++
    else if (this.#unrecorded && !this.isLost(placeOf(asked.branch, asked.epoch))) throw this.#unrecorded(asked, entry)
    if (this.#blocked.size > 0) await this.#letGo()
    return entry
  }

  /**
   * The entry on the tape. Without an outcome there, waits until the program has asked for everything that was recorded. Undefined at once
   * if it has.
   */
  recorded(asked: Asked, check?: (entry: Entry) => Promise<void>, begins?: Begins): Promise<Entry | undefined> | undefined {
    return this.#live && this.#blocked.size === 0 && !begins ? undefined : this.#findOrClear(asked, check, begins)
  }

  async #findOrClear(asked: Asked, check?: (entry: Entry) => Promise<void>, begins?: Begins): Promise<Entry | undefined> {
    const entry = await this.find(asked, undefined, check, begins)
    if (!entry?.done) await this.clear(asked)
    return entry
  }

  /** Resolves once the program has asked for everything that was recorded. */
  async clear(asked: Asked): Promise<void> {
    // Only a branch that lost a race comes here under strict replay.
    if (this.#unrecorded) return
    if (this.#live || (await this.#missing()).length === 0) {
      this.#live = true
      return
    }
    await new Promise<void>((go, fail) => {
      this.#blocked.add({ asked, go, fail })
      this.#watch()
    })
  }

  /** Counts an event as asked for: a branch that lost a race appended it. */
  leaveAppend(key: string): void {
    this.#left.add(key)
  }

  /** The branch lost a race, so its entries are not waited for. */
  async leave(place: string): Promise<void> {
    this.#lost.add(place)
    this.#hasLost = true
    if (this.#blocked.size > 0) await this.#letGo()
  }

  isLost(place: string): boolean {
    return this.#lost.has(place)
  }

  /** Checks before the run ends that it has asked for everything that it asked for before. */
  async checkDone(): Promise<void> {
    if (this.#live) return
    const missing = await this.#missing()
    if (missing.length > 0) throw this.#diverged(missing, [])
  }

  async #missing(): Promise<readonly Entry[]> {
    const rest = await this.#tape.rest()
    return [...rest]
      .filter(([key, { branch, epoch }]) => !this.isLost(placeOf(branch, epoch)) && !this.#left.has(key))
      .map(([, entry]) => entry)
  }

  async #letGo(): Promise<void> {
    const rest = await this.#tape.rest()
    if (rest.size > 0 && (!this.#hasLost || (await this.#missing()).length > 0)) return
    this.#live = true
    for (const { go } of this.#blocked) go()
    this.#blocked.clear()
  }

  #watch(): void {
    if (this.#watching) return
    this.#watching = true
    this.#watchQuiet()
      .catch((error: InkError) => {
        for (const { fail } of this.#blocked) fail(error)
        this.#blocked.clear()
      })
      .finally(() => {
        this.#watching = false
      })
  }

  async #watchQuiet(): Promise<void> {
    while (this.#blocked.size > 0) {
      const before = this.#activity
      await this.#scope.engine.environment.timer.after(limits.replayQuietMs)
      if (this.#blocked.size === 0 || this.#activity !== before) continue
      throw this.#diverged(
        await this.#missing(),
        [...this.#blocked].map(({ asked }) => asked),
      )
    }
  }

  #diverged(missing: readonly Entry[], asked: readonly Asked[]): InkError {
    const place = (branch: string) => (branch === '' ? '' : ` in branch ${branch}`)
    const recorded = missing.slice(0, TOLD).map((e) => `- recorded: ${e.kind} '${e.name}'${place(e.branch)} (seq ${e.seq})`)
    const wanted = asked.slice(0, TOLD).map((a) => `+ asked for: ${a.kind} '${a.name}' #${a.ordinal}${place(a.branch)}`)
    const more = missing.length > TOLD ? [`  and ${missing.length - TOLD} more that were recorded`] : []
    const end = asked.length === 0 ? ['+ asked for: nothing more; the program ended'] : []
    return this.#parted([...recorded, ...more, ...wanted, ...end].join('\n'))
  }
}

/** The error of a strict replay for a call that has no record. */
export function unrecorded(run: RunId, { kind, name, ordinal, branch }: Asked, before: Entry | undefined): InkError {
  const call = `${kind} '${name}' #${ordinal}${branch === '' ? '' : ` in branch ${branch}`}`
  return refuse('REPLAY_MISSING', { run, call, kind, name, ordinal, branch, begun: before !== undefined })
}
