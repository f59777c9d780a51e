// Threads beside the event loop: one copies logs, the other checks pages. A store has its own pair; the files of a folder share one.

import { Worker } from 'node:worker_threads'
import type { Durability } from './database.ts'

export interface CheckpointFile {
  /** The file name for SQLite: a path, or a URI with options. */
  readonly name: string
  readonly readOnly: boolean
  readonly synchronous: Durability
}

export interface CheckpointOrder extends CheckpointFile {
  /** `leave` closes the thread's connection, so that the last connection of the process can remove the log. */
  readonly work: 'copy' | 'check' | 'leave'
}

export type CheckpointAnswer =
  | { readonly log: number; readonly checkpointed: number }
  | { readonly damage: readonly string[] }
  | { readonly left: true }
  | { readonly failed: string; readonly errcode: number | undefined }

export const CLOSED = 'the store is closed'

/** In the package the code itself, as a text (scripts/build.ts). */
const CODE: URL | string = new URL('./checkpoint-worker.ts', import.meta.url)

/** Two threads, because a check reads every page and may take minutes. Meanwhile the log would grow and delay commits. */
export class CheckpointThreads {
  readonly #copies = new CheckpointThread()
  readonly #checks = new CheckpointThread()

  ask(order: CheckpointOrder): Promise<CheckpointAnswer> {
    return (order.work === 'check' ? this.#checks : this.#copies).ask(order)
  }

  async close(): Promise<void> {
    await Promise.all([this.#copies.close(), this.#checks.close()])
  }
}

/** One thread, which executes orders one after the other. */
export class CheckpointThread {
  #worker: Worker | undefined
  #asked: Promise<unknown> = Promise.resolve()
  #answer: ((answer: CheckpointAnswer) => void) | undefined
  #closing = false

  // One order at a time: an answer does not say which order it belongs to.
  ask(order: CheckpointOrder): Promise<CheckpointAnswer> {
    const answer = this.#asked.then(() => this.#order(order))
    this.#asked = answer
    return answer
  }

  /** Stops the thread. Every open order is answered. */
  async close(): Promise<void> {
    this.#closing = true
    await this.#worker?.terminate()
  }

  #order(order: CheckpointOrder): Promise<CheckpointAnswer> {
    return new Promise((resolve) => {
      if (this.#closing) return resolve({ failed: CLOSED, errcode: undefined })
      // A thread that was never started holds no connection.
      if (order.work === 'leave' && !this.#worker) return resolve({ left: true })
      this.#answer = resolve
      try {
        const worker = this.#start()
        // The caller waits for the answer, so the thread keeps the program alive until then.
        worker.ref()
        worker.postMessage(order)
      } catch (error) {
        // The thread could not start; the next order tries again.
        this.#told({ failed: error instanceof Error ? error.message : String(error), errcode: undefined })
      }
    })
  }

  #told(answer: CheckpointAnswer): void {
    // While closing, the caller waits for the end of the thread.
    if (!this.#closing) this.#worker?.unref()
    this.#answer?.(answer)
    this.#answer = undefined
  }

  // The thread starts with the first order: opening stays fast, and small stores need no thread. A dead thread is started again.
  #start(): Worker {
    if (this.#worker) return this.#worker
    const worker = new Worker(CODE, { eval: typeof CODE === 'string', execArgv: [] })
    const gone = (why: string) => {
      // A thread that was replaced must not answer for its successor.
      if (this.#worker !== worker) return
      this.#worker = undefined
      this.#told({ failed: this.#closing ? CLOSED : why, errcode: undefined })
    }
    worker.on('message', (answer: CheckpointAnswer) => this.#worker === worker && this.#told(answer))
    worker.on('error', (error) => gone(error.message))
    worker.on('exit', () => gone('the checkpoint thread ended'))
    worker.unref()
    this.#worker = worker
    return worker
  }
}
