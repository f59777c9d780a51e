// HMAC-SHA-256 from a plain SHA-256, because the pure rooms have no crypto of their own.

import type { Sha256 } from './chain.ts'

const BLOCK = 64
const INNER = 0x36
const OUTER = 0x5c

export function hmac(sha256: Sha256, key: Uint8Array, message: Uint8Array): Uint8Array {
  const { inner, outer } = padsOf(key.length > BLOCK ? sha256(key) : key)
  return sha256(joined(outer, sha256(joined(inner, message))))
}

/** The key laid over both pads, as HMAC does first. Who has them needs nothing but SHA-256. The key is at most one block long. */
export function padsOf(key: Uint8Array): { readonly inner: Uint8Array; readonly outer: Uint8Array } {
  const laid = (pad: number) => Uint8Array.from({ length: BLOCK }, (_, i) => (key[i] ?? 0) ^ pad)
  return { inner: laid(INNER), outer: laid(OUTER) }
}

/** The key, padded with zeros to one block: a key that means the same. */
export const keyOfPad = (inner: Uint8Array): Uint8Array => inner.map((byte) => byte ^ INNER)

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(a.length + b.length)
  bytes.set(a)
  bytes.set(b, a.length)
  return bytes
}
