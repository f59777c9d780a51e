// Taking turns for a row within this process: deciding on a row that a neighbour is about to change would only be refused and decided
// again. Other processes are met by the guard.

export class RowMutex {
  readonly #last = new Map<string, Promise<void>>()

  /** Resolves once everyone who asked earlier for any of these is done; the answer ends the turn. */
  async take(keys: readonly string[]): Promise<() => void> {
    // All keys are queued for at once, so two who want the same rows never wait for each other.
    const before = keys.map((key) => this.#last.get(key))
    let end: () => void = () => {}
    const mine = new Promise<void>((resolve) => {
      end = resolve
    })
    for (const key of keys) this.#last.set(key, mine)
    await Promise.all(before)
    return () => {
      for (const key of keys) if (this.#last.get(key) === mine) this.#last.delete(key)
      end()
    }
  }
}
