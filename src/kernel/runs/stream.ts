// The stream of an effect: pieces of text that are visible while it works, gathered into few entries. Replay does not read them; it reads the
// result.

import { limits } from '../../model/limits.ts'
import type { Asked } from './asked.ts'
import type { RunWriter } from './run-writer.ts'

export class EffectStream {
  readonly #open: RunWriter
  readonly #asked: Asked
  readonly #attempt: number
  readonly #ending = new AbortController()
  #text = ''
  #written: Promise<unknown> = Promise.resolve()
  #waiting = false

  constructor(open: RunWriter, asked: Asked, attempt: number) {
    this.#open = open
    this.#asked = asked
    this.#attempt = attempt
  }

  /** Never waits: pieces that come close together are recorded together. */
  write(text: string): void {
    this.#text += String(text)
    if (this.#text.length >= limits.streamChars + limits.streamHeldChars) this.#flush(this.#cut())
    else if (!this.#waiting) this.#flushLater()
  }

  /** Waits until all pieces are recorded. Throws if the run was lost. */
  async end(): Promise<void> {
    this.#ending.abort()
    this.#flush(this.#text.length)
    await this.#written
  }

  #flushLater(): void {
    this.#waiting = true
    const { timer } = this.#open.scope.engine.environment
    timer
      .idly(limits.streamMs, this.#ending.signal)
      .then(() => this.#flush(this.#cut()))
      .catch(() => {})
      .finally(() => {
        this.#waiting = false
      })
  }

  /** Masking sees only the text that is flushed, so the end is held back, and the cut lies between two words. */
  #cut(): number {
    const most = this.#text.length - limits.streamHeldChars
    return most <= 0 ? 0 : this.#text.slice(0, most).search(/\s\S*$/) + 1
  }

  #flush(end: number): void {
    const text = this.#text.slice(0, end).toWellFormed()
    this.#text = this.#text.slice(end)
    if (text === '') return
    const { kind: _, ...slot } = this.#asked
    const data = { ...slot, attempt: this.#attempt, text }
    // Entries are written one after the other. A failure is kept for the end.
    const before = this.#written
    this.#written = before.then(() => this.#open.record({ type: 'effect.streamed', data, transient: true }))
    this.#written.catch(() => {})
  }
}
