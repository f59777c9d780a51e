// Tags of masked secrets: they distinguish the secrets of a store and reveal none.

import { hex, utf8 } from '../model/bytes.ts'
import type { Sha256 } from '../model/chain.ts'
import { hmac } from '../model/hmac.ts'
import { shortMac } from './short-mac.ts'

// Four bytes distinguish the secrets of one journal and are too few to confirm a guess.
const TAG_BYTES = 4
const BLOCK = 64

const PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** The last byte in hex, from a table: half the time of `toString` for a tag. */
function pair(word: number): string {
  return PAIRS[word & 0xff] as string
}

export function tagger(sha256: Sha256, key: Uint8Array): (secret: string) => string {
  const block = key.length > BLOCK ? sha256(key) : key
  const short = shortMac(block)
  return (secret) => {
    const tag = short(secret)
    if (tag === undefined) return hex(hmac(sha256, block, utf8(secret)).subarray(0, TAG_BYTES))
    return pair(tag >>> 24) + pair(tag >>> 16) + pair(tag >>> 8) + pair(tag)
  }
}
