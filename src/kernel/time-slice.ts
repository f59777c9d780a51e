// Long work in short pieces: whoever calls `rest` often enough never holds up the event loop for longer than a slice.

import { limits } from '../model/limits.ts'
import type { Environment } from '../ports/environment.ts'

export class TimeSlice {
  readonly #environment: Pick<Environment, 'clock' | 'timer'>
  #since: number

  constructor(environment: Pick<Environment, 'clock' | 'timer'>) {
    this.#environment = environment
    this.#since = environment.clock.monotonic()
  }

  /** Lets others run if this slice is over. */
  async rest(): Promise<void> {
    if (this.#environment.clock.monotonic() - this.#since < limits.sliceMs) return
    await new Promise<void>((resolve) => this.#environment.timer.soon(resolve))
    this.#since = this.#environment.clock.monotonic()
  }
}
