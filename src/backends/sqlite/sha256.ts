// SHA-256, the quick way: asked for a buffer, Node takes 0.95 µs, asked for text 0.37 µs, and 32 bytes are read off a text in no time.

import { hash } from 'node:crypto'

const DIGEST_BYTES = 32

export function sha256(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const text = hash('sha256', bytes, 'binary')
  const digest = new Uint8Array(DIGEST_BYTES)
  for (let i = 0; i < DIGEST_BYTES; i++) digest[i] = text.charCodeAt(i)
  return digest
}
