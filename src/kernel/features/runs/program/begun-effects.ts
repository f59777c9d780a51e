// Effects between `begin` and `settle`, which the program does itself. They are not on the tape until they settle, unless another entry comes first:
// then replay must know that they had begun before it.

import { type Asked, entryKey, slotOf } from './call.ts'

export interface Started {
  readonly type: 'effect.started'
  readonly data: Readonly<Record<string, unknown>>
}

export class PendingBegins {
  readonly #write: (event: Started) => Promise<unknown>
  readonly #begun = new Map<string, Started>()
  #telling: Promise<unknown> | undefined

  constructor(write: (event: Started) => Promise<unknown>) {
    this.#write = write
  }

  begins(asked: Asked, wave: number): void {
    this.#begun.set(entryKey(asked), { type: 'effect.started', data: { ...slotOf(asked), wave, attempt: 1, begun: true } })
  }

  /** The outcome is being written, so that the begin need not be. */
  async settles<T>(asked: Asked, write: () => Promise<T>): Promise<T> {
    const key = entryKey(asked)
    const begun = this.#begun.get(key)
    this.#begun.delete(key)
    try {
      return await write()
    } catch (error) {
      if (begun) this.#begun.set(key, begun)
      throw error
    }
  }

  /** Writes pending begins before another entry comes on the tape. Undefined if there are none. */
  told(): Promise<void> | undefined {
    return this.#begun.size > 0 || this.#telling ? this.#tell() : undefined
  }

  async #tell(): Promise<void> {
    const begun = [...this.#begun]
    this.#begun.clear()
    const telling = Promise.all([this.#telling, ...begun.map(([, event]) => this.#write(event))])
    this.#telling = telling
    try {
      await telling
    } catch (error) {
      for (const [key, event] of begun) this.#begun.set(key, event)
      throw error
    } finally {
      if (this.#telling === telling) this.#telling = undefined
    }
  }
}
