// Background promises that `close()` awaits.

export class TaskGroup {
  readonly #running = new Set<Promise<void>>()

  /** The task must not reject. */
  add(task: Promise<void>): void {
    this.#running.add(task)
    void task.finally(() => this.#running.delete(task))
  }

  /** Waits for all tasks, also for those that other tasks add meanwhile. */
  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}
