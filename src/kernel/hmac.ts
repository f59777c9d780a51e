// HMAC-SHA256 from the digest port, for tags that tell two secrets apart and tell neither.

import { hex, utf8 } from '../model/bytes.ts'
import type { Sha256 } from '../model/chain.ts'

const BLOCK = 64

export function hmac(sha256: Sha256, key: Uint8Array, message: Uint8Array): Uint8Array {
  const block = new Uint8Array(BLOCK)
  block.set(key.length > BLOCK ? sha256(key) : key)
  const padded = (pad: number, rest: Uint8Array): Uint8Array => {
    const bytes = new Uint8Array(BLOCK + rest.length)
    for (let i = 0; i < BLOCK; i++) bytes[i] = (block[i] as number) ^ pad
    bytes.set(rest, BLOCK)
    return bytes
  }
  return sha256(padded(0x5c, sha256(padded(0x36, message))))
}

// Four bytes tell the secrets of one journal apart and are too few to confirm a guess with.
const TAG_BYTES = 4

export const tagger =
  (sha256: Sha256, key: Uint8Array) =>
  (secret: string): string =>
    hex(hmac(sha256, key, utf8(secret)).subarray(0, TAG_BYTES))
