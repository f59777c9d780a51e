// Decides when a run is parked (released to the store): everything in it waits, and nothing only for a short time.

import { limits } from '../../../../model/limits.ts'
import type { Scope } from '../../../wiring/scope.ts'

export interface Parked {
  /** When a node has to look again at the latest. */
  readonly until: number | undefined
  /** The head at which all its waits were last checked. */
  readonly seen: number
}

/** Releases the run. Returns false if something has happened since that the run must look at first. */
export type Park = (parked: Parked) => Promise<boolean>

export interface Waiting {
  /** The branch that waits. */
  readonly path: string
  readonly until: number | undefined
  /** The head at which this wait was last checked. */
  seen: number
  end(): void
}

export class Parking {
  readonly #scope: Scope
  readonly #waiting = new Set<Waiting>()
  /** The branches that are underway, by their paths. The run itself is `''`. */
  readonly #branches = new Set<string>([''])
  #busy = 0
  #park: Park | undefined
  #parked = false
  #underway: Promise<boolean> | undefined

  constructor(scope: Scope) {
    this.#scope = scope
  }

  /** A node allows parking. Without a node, a wait keeps the run in this process. */
  allow(park: Park): void {
    this.#park = park
  }

  /** Whether the run was released. A promise only while a release is underway, because every call of a program asks this. */
  isParked(): boolean | Promise<boolean> {
    return this.#parked || (this.#underway ?? false)
  }

  /** Keeps the run here until the returned function is called, once or more often. */
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

  /** Returns true once the run was released: its waits never resolve in this process. `now` is store time. */
  async consider(now: number): Promise<boolean> {
    if (!this.#park || (await this.isParked())) return this.#parked
    // The program may be about to ask for something else.
    await new Promise<void>((resolve) => this.#scope.engine.environment.timer.soon(resolve))
    if (this.#busy > 0 || !this.#allWait()) return false
    const times = [...this.#waiting].map(({ until }) => until)
    if (times.some((until) => until !== undefined && until - now <= limits.parkMs)) return false
    this.#underway ??= this.#give(this.#park, times).finally(() => {
      this.#underway = undefined
    })
    return this.#underway
  }

  /** Whether every branch without sub-branches is inside a wait. A branch with other work would be cut short. */
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

/** A promise that never settles, so that `catch` and `finally` behind it do not run. */
export const never = <T>(): Promise<T> => new Promise<T>(() => {})
