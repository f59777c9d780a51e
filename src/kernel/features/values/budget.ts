// The size of a value, counted while it is encoded or decoded.

/** A small graph of shared nodes can stand for a huge value, so what is decoded is counted. */
export class Budget {
  #left: number

  constructor(bytes: number) {
    this.#left = bytes
  }

  /** Throws once the value is too large. */
  spend(bytes: number): void {
    this.#left -= bytes
    if (this.#left < 0) throw new TooLarge()
  }
}

export class TooLarge extends Error {
  override readonly name = 'TooLarge'
}

/** The cost of one element beside its bytes. */
export const ELEMENT_BYTES = 8
