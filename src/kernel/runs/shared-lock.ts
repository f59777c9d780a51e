// Who may write about a run right now: many at once who only add to its tape, or one who changes its row. In the order they came, so nobody is kept
// out by those who come after.

interface Waiting {
  readonly alone: boolean
  readonly enter: () => void
}

export class SharedLock {
  readonly #waiting: Waiting[] = []
  /** How many are inside; -1 for one who is alone. */
  #inside = 0

  /** Beside others who do the same. The answer lets go. */
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
