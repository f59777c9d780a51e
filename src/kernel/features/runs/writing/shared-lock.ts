// A readers-writer lock on a run: many writers add to its tape at once, or one changes its row. First come, first served, so that no writer
// starves.

interface Waiting {
  readonly alone: boolean
  readonly enter: () => void
}

export class SharedLock {
  readonly #waiting: Waiting[] = []
  /** The number of shared holders; -1 for an exclusive holder. */
  #inside = 0

  /** Takes the lock shared. The returned function releases it. */
  share(): Promise<() => void> | (() => void) {
    if (this.#inside < 0 || this.#waiting.length > 0) return this.#wait(false)
    this.#inside++
    return this.#leave
  }

  alone(): Promise<() => void> | (() => void) {
    if (this.#inside !== 0 || this.#waiting.length > 0) return this.#wait(true)
    this.#inside = -1
    return this.#leave
  }

  #wait(alone: boolean): Promise<() => void> {
    return new Promise((resolve) => this.#waiting.push({ alone, enter: () => resolve(this.#leave) }))
  }

  readonly #leave = (): void => {
    this.#inside = this.#inside < 0 ? 0 : this.#inside - 1
    while (this.#inside >= 0) {
      const [next] = this.#waiting
      if (!next || (next.alone && this.#inside > 0)) return
      this.#waiting.shift()
      this.#inside = next.alone ? -1 : this.#inside + 1
      next.enter()
    }
  }
}
