// The tag of a secret is the start of its HMAC-SHA-256, whichever of the two ways computes it.
import { createHmac, hash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LONGEST_SHORT } from './short-mac.ts'
import { tagger } from './tagger.ts'

const sha256 = (bytes: Uint8Array) => hash('sha256', bytes, 'buffer')
const expected = (key: Uint8Array, secret: string) => createHmac('sha256', key).update(secret).digest('hex').slice(0, 8)

test('the tag of an ASCII secret of every length around a block is its HMAC', () => {
  const key = Uint8Array.from({ length: 32 }, (_, i) => 7 * i + 3)
  const tag = tagger(sha256, key)
  for (let size = 0; size <= LONGEST_SHORT + 70; size++) {
    const secret = 'aB3-'.repeat(100).slice(0, size)
    expect(tag(secret), `${size} characters`).toBe(expected(key, secret))
  }
})

test('the tag of any secret under any key is its HMAC', () => {
  const text = fc.oneof(fc.string({ maxLength: 300 }), fc.string({ unit: 'grapheme', maxLength: 80 }))
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 130 }), text, (key, secret) => {
      expect(tagger(sha256, key)(secret)).toBe(expected(key, secret.toWellFormed()))
    }),
    { numRuns: 500, seed: 11 },
  )
})
