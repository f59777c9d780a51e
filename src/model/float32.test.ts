// Vectors read back bit by bit from their text, which is base64.

import { Buffer } from 'node:buffer'
import { expect, test } from 'vitest'
import { decodeFloats, encodeFloats } from './float32.ts'

test('vectors of every length read back bit by bit, and their text is base64 of little-endian float32', () => {
  const values = [0, -0, 1.5, -1e-45, 3.4e38, 0.1, Number.MIN_VALUE, 1 / 3]
  for (let length = 1; length <= values.length; length++) {
    const vector = Float32Array.from(values.slice(0, length))
    const text = encodeFloats(vector)
    expect(text).toBe(Buffer.from(vector.buffer).toString('base64'))
    expect(new Uint8Array(decodeFloats(text).buffer)).toEqual(new Uint8Array(vector.buffer))
  }
})
