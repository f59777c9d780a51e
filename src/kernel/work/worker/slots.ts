// The places of a worker: how many handlers may begin, and how many items may be claimed for them.

import type { WorkerTerms } from './worker-options.ts'

export class Slots {
  readonly #terms: WorkerTerms
  /** How many are done, and wait to be written. */
  readonly #ended: () => number
  /** Handlers at work. */
  busy = 0
  /** Done, and on its way to the store; */
  writing = 0
  /** or settled by itself, because it failed or could not be written with others. */
  settling = 0
  /** Claimed, and not heard of yet. */
  arriving = 0
  /** Slots that are taken by what is on its way, one for an item that is completed and the one that is claimed with it. */
  moving = 0

  constructor(terms: WorkerTerms, ended: () => number) {
    this.#terms = terms
    this.#ended = ended
  }

  /** For how many more there is room among the handlers, with so many in reserve. Whoever writes what has ended takes the next with it. */
  room(held: number): number {
    return this.#terms.concurrency - this.busy - this.moving - this.settling - held - this.#ended()
  }

  get mayBegin(): boolean {
    const { concurrency, outstanding } = this.#terms
    return this.busy < Math.min(concurrency, outstanding - this.#ended() - this.writing - this.settling)
  }

  /** While so many are written and so many claimed in one commit. */
  async during<R>(written: number, claimed: number, work: () => Promise<R>): Promise<R> {
    const moving = Math.max(written, claimed)
    this.writing += written
    this.arriving += claimed
    this.moving += moving
    try {
      return await work()
    } finally {
      this.writing -= written
      this.arriving -= claimed
      this.moving -= moving
    }
  }
}
