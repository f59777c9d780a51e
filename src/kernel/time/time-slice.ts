// Splits long work into slices: a task that calls `rest` often enough never blocks the event loop for longer than a slice.

import { limits } from '../../model/limits.ts'
import type { Environment } from '../../ports/environment.ts'

export class TimeSlice {
  readonly #environment: Pick<Environment, 'clock' | 'timer'>
  #since: number

  constructor(environment: Pick<Environment, 'clock' | 'timer'>) {
    this.#environment = environment
    this.#since = environment.clock.monotonic()
  }

  /** Lets other tasks run if this slice is over. */
  async rest(): Promise<void> {
    if (this.#environment.clock.monotonic() - this.#since < limits.sliceMs) return
    await new Promise<void>((resolve) => this.#environment.timer.soon(resolve))
    this.#since = this.#environment.clock.monotonic()
  }
}
