// Chance from a seed: the same seed draws the same.

export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to but not including 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** Both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  happens(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(of: readonly T[]): T {
    return of[this.between(0, of.length - 1)] as T
  }

  shuffled<T>(of: readonly T[]): T[] {
    const left = [...of]
    return of.map(() => left.splice(this.between(0, left.length - 1), 1)[0] as T)
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.between(0, 255))
  }

  /** Another one, which draws for itself. */
  branch(): Chance {
    return new Chance(this.between(0, 2 ** 32 - 1))
  }
}
