// Group commit for small changes: those that come while the program runs on share one transaction, and so one flush.

import { InkError } from '../../model/errors.ts'

interface Pending {
  run(): void
  settle(): void
  fail(error: unknown): void
}

export class GroupedWrites {
  readonly #write: <T>(work: () => T) => Promise<T>
  #waiting: Pending[] = []

  constructor(write: <T>(work: () => T) => Promise<T>) {
    this.#write = write
  }

  /** Runs `work` in a transaction with others. A refusal fails only its own caller; any other error rolls all of them back. */
  add<T>(work: () => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    let settle = (): void => {}
    const run = (): void => {
      try {
        const answer = work()
        settle = () => resolve(answer)
      } catch (error) {
        if (!(error instanceof InkError)) throw error
        settle = () => reject(error)
      }
    }
    this.#waiting.push({ run, settle: () => settle(), fail: reject })
    if (this.#waiting.length === 1) setImmediate(() => void this.#flush())
    return promise
  }

  async #flush(): Promise<void> {
    const group = this.#waiting
    this.#waiting = []
    try {
      await this.#write(() => {
        for (const { run } of group) run()
      })
      for (const { settle } of group) settle()
    } catch (error) {
      for (const { fail } of group) fail(error)
    }
  }
}
