// HMAC-SHA-256 built on a plain SHA-256, because the pure rooms have no crypto of their own.

import type { Sha256 } from './chain.ts'

const BLOCK = 64
const INNER = 0x36
const OUTER = 0x5c

export function hmac(sha256: Sha256, key: Uint8Array, message: Uint8Array): Uint8Array {
  const { inner, outer } = padsOf(key.length > BLOCK ? sha256(key) : key)
  return sha256(joined(outer, sha256(joined(inner, message))))
}

/** XORs the key, at most one block long, with both pads: the first step of HMAC. From the pads on, SHA-256 is enough. */
export function padsOf(key: Uint8Array): { readonly inner: Uint8Array; readonly outer: Uint8Array } {
  const laid = (pad: number) => Uint8Array.from({ length: BLOCK }, (_, i) => (key[i] ?? 0) ^ pad)
  return { inner: laid(INNER), outer: laid(OUTER) }
}

/** Restores the key from its inner pad, zero-padded to one block. HMAC treats it like the original key. */
export const keyOfPad = (inner: Uint8Array): Uint8Array => inner.map((byte) => byte ^ INNER)

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(a.length + b.length)
  bytes.set(a)
  bytes.set(b, a.length)
  return bytes
}
