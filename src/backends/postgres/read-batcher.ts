// Batches small reads of one tenant that arrive in the same tick into one round trip, which names the tenant once. Without it, sixty-four runs
// that open at the same time would wait for each other at the pool.

import type { Cells, Step } from './connections.ts'

type Results = readonly (readonly Cells[])[]
type Read = (token: string, steps: readonly Step[]) => Promise<Results>

interface Asking {
  readonly steps: readonly Step[]
  readonly answer: (results: Results) => void
  readonly fail: (error: unknown) => void
}

// Many enough to save round trips, few enough that no caller waits long for the others.
const STEPS_MOST = 64

export class ReadBatcher {
  readonly #read: Read
  readonly #asking = new Map<string, Asking[]>()

  constructor(read: Read) {
    this.#read = read
  }

  read(token: string, steps: readonly Step[]): Promise<Results> {
    return new Promise((answer, fail) => {
      const asking = this.#asking.get(token)
      if (asking) asking.push({ steps, answer, fail })
      else {
        this.#asking.set(token, [{ steps, answer, fail }])
        setImmediate(() => this.#leave(token))
      }
    })
  }

  #leave(token: string): void {
    const asking = this.#asking.get(token) ?? []
    this.#asking.delete(token)
    let trip: Asking[] = []
    let count = 0
    for (const one of asking) {
      if (count > 0 && count + one.steps.length > STEPS_MOST) {
        void this.#travel(token, trip)
        ;[trip, count] = [[], 0]
      }
      trip.push(one)
      count += one.steps.length
    }
    if (trip.length > 0) void this.#travel(token, trip)
  }

  async #travel(token: string, trip: readonly Asking[]): Promise<void> {
    try {
      const results = await this.#read(
        token,
        trip.flatMap(({ steps }) => steps),
      )
      let at = 0
      for (const { steps, answer } of trip) {
        answer(results.slice(at, at + steps.length))
        at += steps.length
      }
    } catch (error) {
      // One bad read must not fail the others, so each is retried alone.
      for (const { steps, answer, fail } of trip) {
        if (trip.length === 1) fail(error)
        else this.#read(token, steps).then(answer, fail)
      }
    }
  }
}
