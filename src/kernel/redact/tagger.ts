// Tags of masked secrets: they distinguish the secrets of a store and reveal none.

import { hex, utf8 } from '../../model/bytes.ts'
import type { Sha256 } from '../../model/chain.ts'
import { hmac } from '../../model/hmac.ts'

// Four bytes distinguish the secrets of one journal and are too few to confirm a guess.
const TAG_BYTES = 4

export const tagger =
  (sha256: Sha256, key: Uint8Array) =>
  (secret: string): string =>
    hex(hmac(sha256, key, utf8(secret)).subarray(0, TAG_BYTES))
