// Counts the writes of the last minute, and those among them that were slow, in constant memory: one counter for each second.

import { limits } from '../../model/limits.ts'

const SECOND_MS = 1000
const SECONDS = limits.breachMemoryMs / SECOND_MS

export class RecentWrites {
  readonly #second = new Float64Array(SECONDS).fill(-1)
  readonly #writes = new Float64Array(SECONDS)
  readonly #breaches = new Float64Array(SECONDS)

  /** `at` is a time of the monotonic clock. */
  add(at: number, isBreach: boolean): void {
    const second = Math.floor(at / SECOND_MS)
    const i = second % SECONDS
    if (this.#second[i] !== second) {
      this.#second[i] = second
      this.#writes[i] = 0
      this.#breaches[i] = 0
    }
    this.#writes[i] = (this.#writes[i] as number) + 1
    if (isBreach) this.#breaches[i] = (this.#breaches[i] as number) + 1
  }

  read(now: number): { readonly writes: number; readonly breaches: number } {
    const after = Math.floor(now / SECOND_MS) - SECONDS
    let [writes, breaches] = [0, 0]
    for (let i = 0; i < SECONDS; i++) {
      if ((this.#second[i] as number) <= after) continue
      writes += this.#writes[i] as number
      breaches += this.#breaches[i] as number
    }
    return { writes, breaches }
  }
}
