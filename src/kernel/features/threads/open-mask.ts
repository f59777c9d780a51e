// Masks a message that is still being streamed. The text of an open part is masked across its pieces: its last word is held back, because the
// rest of it decides whether it is a secret.

import { limits } from '../../../model/limits.ts'
import type { Redactor } from '../../../redact/redactor.ts'
import type { MaskedStream, StreamBounds } from '../../../redact/stream.ts'
import { defined } from './check-message.ts'
import { isOpen, type OpenMessage, type OpenPart } from './fold-chunks.ts'
import { parsePartialJson } from './partial-json.ts'

/** A person watches the message, so only the last word is held back. The whole text is masked again when the part ends. */
const BOUNDS: StreamBounds = {
  portion: limits.streamChars,
  context: limits.streamContextChars,
  most: limits.streamHeldMostChars,
}

interface Masked {
  readonly stream: MaskedStream
  fed: number
  text: string
}

export class OpenMask {
  readonly #redactor: Redactor
  readonly #open = new WeakMap<OpenPart, Masked>()

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  /** The message as it may be stored now. */
  masked(message: OpenMessage): unknown {
    const parts = message.parts.map((part) => {
      if (!isOpen(part)) return part
      if (part.state === 'streaming') return { ...part, text: this.#shown(part, part.text) }
      const { input: _, ...rest } = part
      // An input without its text cannot be masked across its pieces.
      if (part.rawInput === undefined) return rest
      const rawInput = this.#shown(part, part.rawInput)
      const input = part.inputEncoding === 'text' ? rawInput : parsePartialJson(rawInput)
      return { ...rest, ...(input !== undefined && { input }), rawInput }
    })
    return this.#redactor.value(defined({ ...message, parts }))
  }

  #shown(part: OpenPart, text: string): string {
    let known = this.#open.get(part)
    if (!known || known.fed > text.length) {
      known = { stream: this.#redactor.stream(BOUNDS), fed: 0, text: '' }
      this.#open.set(part, known)
    }
    known.stream.write(text.slice(known.fed))
    known.fed = text.length
    known.text += known.stream.take()
    return known.text
  }
}
