// Base58Check: wallet keys end in four bytes of a checksum, which tells them from a random word of the same letters.
import { sha256 } from './sha256.ts'

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const CHECK_BYTES = 4

export function base58Checked(word: string): boolean {
  const bytes = decode(word)
  if (bytes === undefined || bytes.length <= CHECK_BYTES) return false
  const body = bytes.subarray(0, -CHECK_BYTES)
  const sum = sha256(sha256(body))
  return bytes.subarray(-CHECK_BYTES).every((byte, n) => byte === sum[n])
}

/** Returns the bytes of a Base58 word, or undefined for other letters. The caller bounds its length: the cost is quadratic. */
function decode(word: string): Uint8Array | undefined {
  const little: number[] = []
  for (const char of word) {
    let carry = ALPHABET.indexOf(char)
    if (carry < 0) return undefined
    for (let n = 0; n < little.length; n++) {
      carry += (little[n] as number) * 58
      little[n] = carry & 0xff
      carry >>= 8
    }
    for (; carry > 0; carry >>= 8) little.push(carry & 0xff)
  }
  return Uint8Array.from(little.reverse())
}
