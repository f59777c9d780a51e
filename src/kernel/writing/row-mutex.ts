// A mutex for rows within this process. Deciding on a row that another caller is about to change would only be refused and decided again.
// Guards handle writers in other processes.

export class RowMutex {
  readonly #last = new Map<string, Promise<void>>()

  /** Resolves once all earlier holders of any of these rows are done. The returned function releases the rows. */
  async take(keys: readonly string[]): Promise<() => void> {
    // A caller queues for all its rows at once, so two callers never wait for each other (no deadlock).
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
