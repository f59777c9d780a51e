// Vectors as text: little-endian float32 numbers in base64. They read back exactly.

import { base64, LETTERS } from './bytes.ts'

const SIXES = new Uint8Array(128)
for (const [i, letter] of LETTERS.entries()) SIXES[letter] = i

const LITTLE = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

export const encodeFloats = (vector: Float32Array): string => base64(bytesOf(vector))

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
