// The threads beside the event loop: one copies logs, the other checks pages. A store has its own pair, and the files of a folder share one.

import { Worker } from 'node:worker_threads'
import type { Durability } from './database.ts'

export interface CheckpointFile {
  /** How SQLite is asked for it: a path, or an address with options. */
  readonly name: string
  readonly readOnly: boolean
  readonly synchronous: Durability
}

export interface CheckpointOrder extends CheckpointFile {
  /** `leave` lets go of the file, so that whoever closes it last can take its log away. */
  readonly work: 'copy' | 'check' | 'leave'
}

export type CheckpointAnswer =
  | { readonly log: number; readonly checkpointed: number }
  | { readonly damage: readonly string[] }
  | { readonly left: true }
  | { readonly failed: string; readonly errcode: number | undefined }

export const CLOSED = 'the store is closed'

/** Separate threads, because a check reads every page and may take minutes: copying behind it would let the log grow and hold up commits. */
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

/** One thread, which does one thing at a time, in the order it was asked. */
export class CheckpointThread {
  #worker: Worker | undefined
  #asked: Promise<unknown> = Promise.resolve()
  #answer: ((answer: CheckpointAnswer) => void) | undefined
  #closing = false

  // One order at a time: the thread answers in turn, and an answer says not what was asked.
  ask(order: CheckpointOrder): Promise<CheckpointAnswer> {
    const answer = this.#asked.then(() => this.#order(order))
    this.#asked = answer
    return answer
  }

  /** Whatever it is at is left; everything that was asked is answered. */
  async close(): Promise<void> {
    this.#closing = true
    await this.#worker?.terminate()
  }

  #order(order: CheckpointOrder): Promise<CheckpointAnswer> {
    return new Promise((resolve) => {
      if (this.#closing) return resolve({ failed: CLOSED, errcode: undefined })
      // One that was never started holds nothing.
      if (order.work === 'leave' && !this.#worker) return resolve({ left: true })
      this.#answer = resolve
      try {
        const worker = this.#start()
        // Someone waits for the answer, so the thread keeps the program alive until it is given.
        worker.ref()
        worker.postMessage(order)
      } catch (error) {
        // No thread could be had now; the next order tries again.
        this.#told({ failed: error instanceof Error ? error.message : String(error), errcode: undefined })
      }
    })
  }

  #told(answer: CheckpointAnswer): void {
    // While it is ended, somebody waits for that.
    if (!this.#closing) this.#worker?.unref()
    this.#answer?.(answer)
    this.#answer = undefined
  }

  // Started with the first order: opening stays quick, and small stores never pay for a thread. One that died is started anew.
  #start(): Worker {
    if (this.#worker) return this.#worker
    const file = import.meta.url.endsWith('.ts') ? './checkpoint-worker.ts' : './checkpoint-worker.js'
    const worker = new Worker(new URL(file, import.meta.url), { execArgv: [] })
    const gone = (why: string) => {
      // One that is gone already must not answer for its successor.
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
