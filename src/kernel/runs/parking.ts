// When a run may be given back to the store: everything in it waits, and none of it for a short time only.

import { limits } from '../../model/limits.ts'
import type { Scope } from '../scope.ts'

export interface Parked {
  /** When somebody has to look again in any case. */
  readonly until: number | undefined
  /** The head at which everything it waits for was last looked at. */
  readonly seen: number
}

/** Gives the run back; false when something happened since that it must look at first. */
export type Park = (parked: Parked) => Promise<boolean>

export interface Waiting {
  /** The branch that waits. */
  readonly path: string
  readonly until: number | undefined
  /** The head at which it was last looked at. */
  seen: number
  end(): void
}

export class Parking {
  readonly #scope: Scope
  readonly #waiting = new Set<Waiting>()
  /** Branches underway, by their paths; the run itself is `''`. */
  readonly #branches = new Set<string>([''])
  #busy = 0
  #park: Park | undefined
  #parked = false
  #underway: Promise<boolean> | undefined

  constructor(scope: Scope) {
    this.#scope = scope
  }

  /** A worker allows it; without one a wait holds the process. */
  allow(park: Park): void {
    this.#park = park
  }

  /** Given back, or just being given back and then given back. */
  async isParked(): Promise<boolean> {
    return this.#parked || ((await this.#underway) ?? false)
  }

  /** While this runs, the run stays here. */
  async busily<T>(work: () => Promise<T>): Promise<T> {
    const end = this.hold()
    try {
      return await work()
    } finally {
      end()
    }
  }

  /** The run stays here until the answer is called, once or more often. */
  hold(): () => void {
    this.#busy++
    let held = true
    return () => {
      if (held) this.#busy--
      held = false
    }
  }

  begins(path: string): void {
    this.#branches.add(path)
  }

  ends(path: string): void {
    for (const branch of this.#branches) if (branch === path || branch.startsWith(`${path}/`)) this.#branches.delete(branch)
  }

  isUnderway(path: string): boolean {
    return this.#branches.has(path)
  }

  waits(path: string, until: number | undefined): Waiting {
    const waiting: Waiting = { path, until, seen: 0, end: () => void this.#waiting.delete(waiting) }
    this.#waiting.add(waiting)
    return waiting
  }

  /** True once the run was given back: whoever waits in it never hears of it again. `now` is store time. */
  async consider(now: number): Promise<boolean> {
    if (!this.#park || (await this.isParked())) return this.#parked
    // The program may be about to ask for more.
    await new Promise<void>((resolve) => this.#scope.engine.environment.timer.soon(resolve))
    if (this.#busy > 0 || !this.#allWait()) return false
    const times = [...this.#waiting].map(({ until }) => until)
    if (times.some((until) => until !== undefined && until - now <= limits.parkMs)) return false
    this.#underway ??= this.#give(this.#park, times).finally(() => {
      this.#underway = undefined
    })
    return this.#underway
  }

  /** Every branch that has none of its own underway is inside a wait; one that works at something else would be cut short. */
  #allWait(): boolean {
    const waiting = new Set([...this.#waiting].map(({ path }) => path))
    const branches = [...this.#branches]
    return branches.every(
      (path) => waiting.has(path) || branches.some((other) => other !== path && (path === '' || other.startsWith(`${path}/`))),
    )
  }

  async #give(park: Park, times: readonly (number | undefined)[]): Promise<boolean> {
    const known = times.filter((until) => until !== undefined)
    const seen = Math.min(...[...this.#waiting].map((waiting) => waiting.seen))
    this.#parked = await park({ until: known.length > 0 ? Math.min(...known) : undefined, seen })
    return this.#parked
  }
}

/** A promise that nobody keeps: `catch` and `finally` behind it do not run. */
export const never = <T>(): Promise<T> => new Promise<T>(() => {})
