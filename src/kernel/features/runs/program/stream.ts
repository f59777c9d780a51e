// The stream of an effect: pieces of text that are visible while it works, gathered into few entries. Replay does not read them; it reads the
// result.

import { limits } from '../../../../model/limits.ts'
import { MaskedStream, type StreamBounds } from '../../../../redact/stream.ts'
import type { RunWriter } from '../writing/run-writer.ts'
import { type Asked, slotOf } from './call.ts'

const BOUNDS: StreamBounds = {
  portion: limits.streamChars,
  context: limits.streamContextChars,
  most: limits.streamHeldMostChars,
}

export class EffectStream {
  readonly #open: RunWriter
  readonly #asked: Asked
  readonly #attempt: number
  readonly #ending = new AbortController()
  readonly #text: MaskedStream
  /** The number of characters in one entry. A character of JSON text has at most six bytes. */
  readonly #most: number
  #written: Promise<unknown> = Promise.resolve()
  #waiting = false

  constructor(open: RunWriter, asked: Asked, attempt: number) {
    this.#open = open
    this.#asked = asked
    this.#attempt = attempt
    const { redactor, payloadBytes } = open.scope.engine
    this.#text = redactor?.stream(BOUNDS) ?? new MaskedStream(undefined, BOUNDS)
    this.#most = Math.max(1, Math.min(2 * limits.streamChars, payloadBytes >> 3))
  }

  /** Never waits: pieces that come close together are recorded together. */
  write(text: string): void {
    this.#text.write(String(text))
    if (this.#text.ready) this.#record(this.#text.take())
    else if (!this.#waiting) this.#flushLater()
  }

  /** Waits until all pieces are recorded. Throws if the run was lost. */
  async end(): Promise<void> {
    this.#ending.abort()
    this.#record(this.#text.end())
    await this.#written
  }

  #flushLater(): void {
    this.#waiting = true
    const { timer } = this.#open.scope.engine.environment
    timer
      .idly(limits.streamMs, this.#ending.signal)
      .then(() => this.#record(this.#text.take()))
      .catch(() => {})
      .finally(() => {
        this.#waiting = false
      })
  }

  #record(text: string): void {
    for (let at = 0; at < text.length; ) {
      let end = Math.min(text.length, at + this.#most)
      // A surrogate pair stays together.
      if (end < text.length && (text.codePointAt(end - 1) as number) > 0xffff) end++
      this.#append(text.slice(at, end))
      at = end
    }
  }

  #append(text: string): void {
    const data = { ...slotOf(this.#asked), attempt: this.#attempt, text: text.toWellFormed() }
    // Entries are written one after the other. A failure is kept for the end. The text is masked already.
    const before = this.#written
    this.#written = before.then(() => this.#open.record({ type: 'effect.streamed', data, transient: true, whole: true }))
    this.#written.catch(() => {})
  }
}
