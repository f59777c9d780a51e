// Segments of a tape. At the limit all writers wait until the entries underway are saved. Then the segment is sealed and the tape goes on, so that
// a segment never holds more than its limit.

import { limits } from '../../../../model/limits.ts'

export class Segment {
  readonly #there: () => number
  readonly #seal: (entries: number) => Promise<unknown>
  #entries: number | undefined
  #flying = 0
  #sealing: Promise<void> | undefined
  #landed: () => void = () => {}

  /** `there` returns the number of entries on the tape. It is called when the first entry comes. */
  constructor(there: () => number, seal: (entries: number) => Promise<unknown>) {
    this.#there = there
    this.#seal = seal
  }

  /** A checkpoint has ended the segment. */
  restart(): void {
    this.#entries = 0
  }

  /** Room for one more entry; a promise if a full segment must be sealed first. Call the returned function when the entry is saved. */
  enter(): (() => void) | Promise<() => void> {
    this.#entries ??= this.#there()
    return this.#isFull ? this.#enterNext() : this.#add()
  }

  get #isFull(): boolean {
    return (this.#entries ?? 0) >= limits.tapeSegment
  }

  async #enterNext(): Promise<() => void> {
    while (this.#isFull) {
      this.#sealing ??= this.#turn().finally(() => {
        this.#sealing = undefined
      })
      await this.#sealing
    }
    return this.#add()
  }

  #add(): () => void {
    this.#entries = (this.#entries ?? 0) + 1
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
