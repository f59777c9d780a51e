// Vectors as text: little-endian float32 numbers in base64. They read back exactly.

import { fromUtf8, utf8 } from './bytes.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const SIXES = new Uint8Array(128)
for (let i = 0; i < 64; i++) SIXES[ALPHABET.charCodeAt(i)] = i

const LITTLE = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

const LETTERS = utf8(ALPHABET)
const PADDING = 61

/** Letters are written as bytes first: joining them as texts would leave a rope of thousands of pieces. */
export function encodeFloats(vector: Float32Array): string {
  const bytes = bytesOf(vector)
  const letters = new Uint8Array(Math.ceil(bytes.length / 3) * 4)
  for (let i = 0, at = 0; i < bytes.length; i += 3) {
    const held = ((bytes[i] as number) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0)
    letters[at++] = LETTERS[held >> 18] as number
    letters[at++] = LETTERS[(held >> 12) & 63] as number
    letters[at++] = LETTERS[(held >> 6) & 63] as number
    letters[at++] = LETTERS[held & 63] as number
  }
  for (let missing = (3 - (bytes.length % 3)) % 3; missing > 0; missing--) letters[letters.length - missing] = PADDING
  return fromUtf8(letters)
}

export function decodeFloats(text: string): Float32Array<ArrayBuffer> {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const bytes = new Uint8Array((text.length / 4) * 3 - padding)
  for (let i = 0, at = 0; i < text.length; i += 4) {
    const held =
      ((SIXES[text.charCodeAt(i)] as number) << 18) |
      ((SIXES[text.charCodeAt(i + 1)] as number) << 12) |
      ((SIXES[text.charCodeAt(i + 2) & 127] as number) << 6) |
      (SIXES[text.charCodeAt(i + 3) & 127] as number)
    bytes[at++] = held >> 16
    if (at < bytes.length) bytes[at++] = held >> 8
    if (at < bytes.length) bytes[at++] = held
  }
  if (LITTLE) return new Float32Array(bytes.buffer)
  const view = new DataView(bytes.buffer)
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(4 * i, true))
}

function bytesOf(vector: Float32Array): Uint8Array {
  if (LITTLE) return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
  const view = new DataView(new ArrayBuffer(vector.byteLength))
  vector.forEach((value, i) => {
    view.setFloat32(4 * i, value, true)
  })
  return new Uint8Array(view.buffer)
}
