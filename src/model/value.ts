// A value's ref: `value:` and the SHA-256 of its root in base64url. Nodes and refs are bytes inside, and text at the API.

import { type InkError, refuse } from './errors.ts'

/** One node of a value, named by its digest. */
export interface ValueNode {
  /** SHA-256 of the format's domain and the body: 32 bytes. */
  readonly ref: Uint8Array
  /** Kind and payload. */
  readonly body: Uint8Array
}

/** A commit that names a node notes so if the node was written, or noted, longer ago than this. */
export const NAMED_AGAIN_MS = 60 * 60 * 1000

const PREFIX = 'value:'
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const SIXES = new Map([...ALPHABET].map((letter, six) => [letter, six]))
// The last letter holds four bits only, so its two lowest bits are zero.
const REF = /^value:[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/

export function valueRef(ref: Uint8Array): string {
  let text = PREFIX
  let [bits, held] = [0, 0]
  for (let i = 0; i < ref.length; i++) {
    held = (held << 8) | (ref[i] as number)
    for (bits += 8; bits >= 6; bits -= 6) text += ALPHABET[(held >> (bits - 6)) & 63]
    held &= (1 << bits) - 1
  }
  return bits > 0 ? text + ALPHABET[(held << (6 - bits)) & 63] : text
}

export const isValueRef = (text: unknown): text is string => typeof text === 'string' && REF.test(text)

/** The bytes of a ref that a caller gave. */
export function parseValueRef(text: unknown): Uint8Array {
  if (!isValueRef(text)) throw invalidRef(text)
  const bytes = new Uint8Array(32)
  let [bits, held, at] = [0, 0, 0]
  for (let i = PREFIX.length; i < text.length; i++) {
    held = (held << 6) | (SIXES.get(text[i] as string) as number)
    bits += 6
    if (bits < 8) continue
    bits -= 8
    bytes[at++] = held >> bits
    held &= (1 << bits) - 1
  }
  return bytes
}

const invalidRef = (given: unknown): InkError =>
  refuse('VALUE_REF_INVALID', { ref: typeof given === 'string' ? JSON.stringify(given.slice(0, 80)) : `a ${typeof given}` })
