// What somebody has begun and does not wait for, until it is time to.

export class TaskGroup {
  readonly #underway = new Set<Promise<void>>()

  /** One that does not reject. */
  add(task: Promise<void>): void {
    this.#underway.add(task)
    void task.finally(() => this.#underway.delete(task))
  }

  /** What one of them begins is among them. */
  async ended(): Promise<void> {
    while (this.#underway.size > 0) await Promise.all(this.#underway)
  }
}
