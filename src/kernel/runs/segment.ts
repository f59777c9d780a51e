// Room on a tape. At the limit everybody waits until what is underway has landed, the segment is sealed, and the tape goes on: so a segment holds what
// it says and no more.

import { limits } from '../../model/limits.ts'

export class Segment {
  readonly #there: () => number
  readonly #seal: (entries: number) => Promise<unknown>
  #entries: number | undefined
  #flying = 0
  #sealing: Promise<void> | undefined
  #landed: () => void = () => {}

  /** `there` is how many entries it has, asked when the first comes. */
  constructor(there: () => number, seal: (entries: number) => Promise<unknown>) {
    this.#there = there
    this.#seal = seal
  }

  /** Room for one more entry; the answer says that it has landed. */
  async enter(): Promise<() => void> {
    this.#entries ??= this.#there()
    while (this.#entries >= limits.tapeSegment) {
      this.#sealing ??= this.#turn().finally(() => {
        this.#sealing = undefined
      })
      await this.#sealing
    }
    this.#entries++
    this.#flying++
    return () => {
      this.#flying--
      if (this.#flying === 0) this.#landed()
    }
  }

  async #turn(): Promise<void> {
    while (this.#flying > 0) await new Promise<void>((resolve) => (this.#landed = resolve))
    await this.#seal(this.#entries ?? 0)
    this.#entries = 0
  }
}
