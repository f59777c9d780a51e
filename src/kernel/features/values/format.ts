// The value format: kinds of nodes, tags of items, the rule that cuts a list into chunks, and refs. docs/reference/value-format.md describes
// it byte by byte; test/vectors/values.json holds examples.

import type { Sha256 } from '../../../model/chain.ts'
import type { ValueNode } from '../../../model/value.ts'

export const KIND = {
  /** One item: a small object, or the root of a value that would be inline. */
  value: 1,
  /** Raw UTF-8. */
  string: 2,
  /** Raw UTF-16LE, for text with lone surrogates. */
  wide: 3,
  list: 4,
  listLeaf: 5,
  listBranch: 6,
  map: 7,
  mapLeaf: 8,
  mapBranch: 9,
  listSpine: 10,
  mapSpine: 11,
  /** Raw bytes: a long array of integers from 0 to 255. */
  bytes: 12,
} as const

export const TAG = {
  null: 0,
  false: 1,
  true: 2,
  /** A safe integer other than −0, zigzag. */
  integer: 3,
  /** Every other finite number, and −0: eight bytes, big-endian. */
  float: 4,
  string: 5,
  wide: 6,
  array: 7,
  object: 8,
  /** The ref of a node that may have children. */
  ref: 9,
  word: 10,
  /** Sixteen bytes: a UUID in lower-case canonical text. */
  uuid: 11,
  /** The ref of a node without children (string, wide, bytes). */
  leaf: 12,
  bytes: 13,
  /** A blob: its digest and its length. */
  blobString: 14,
  blobWide: 15,
  blobBytes: 16,
} as const

/** Forms of a map key, in the two lowest bits of its length. */
export const KEY = { utf8: 0, wide: 1, word: 2 } as const

/** Longer items become nodes. */
export const INLINE_BYTES = 128
/** Longer objects become a map tree. */
export const OBJECT_BYTES = 1024
/** Longer strings and byte arrays become blobs. */
export const LEAF_BYTES = 64 * 1024
/** An array of at least so many integers from 0 to 255 is stored as bytes. */
export const PACKED_LEAST = 32
export const REF_BYTES = 32

const CHUNK_LEAST = 128
const CHUNK_MOST = 1024

/** Whether a chunk ends after this entry. A long entry ends one more often, so that a chunk holds bytes and not a count. */
export function endsChunk(entry: Uint8Array, entries: number, bytes: number): boolean {
  if (entries < 2 || bytes < CHUNK_LEAST) return false
  return bytes >= CHUNK_MOST || mixed(entry) < entry.length * 0x200_0000
}

/** FNV-1a over the bytes, then the finaliser of MurmurHash3, as an unsigned number. */
function mixed(bytes: Uint8Array): number {
  let h = 0x811c9dc5
  for (let i = 0; i < bytes.length; i++) h = Math.imul(h ^ (bytes[i] as number), 0x01000193)
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

const DOMAIN = Uint8Array.from('inkfast/1/value\0', (character) => character.charCodeAt(0))

/** Makes a node of its kind and the pieces of its payload. */
export function nodeOf(sha256: Sha256, kind: number, pieces: readonly Uint8Array[]): ValueNode {
  let size = DOMAIN.length + 1
  for (const piece of pieces) size += piece.length
  const whole = new Uint8Array(size)
  whole.set(DOMAIN)
  whole[DOMAIN.length] = kind
  let at = DOMAIN.length + 1
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return { ref: sha256(whole), body: whole.subarray(DOMAIN.length) }
}

/** The ref that a stored body should have. */
export function refOf(sha256: Sha256, body: Uint8Array): Uint8Array {
  const whole = new Uint8Array(DOMAIN.length + body.length)
  whole.set(DOMAIN)
  whole.set(body, DOMAIN.length)
  return sha256(whole)
}

/** The bytes of a ref as the key of a map, two in each character. A spread of the bytes took four times as long. */
export function refKey(ref: Uint8Array): string {
  let key = ''
  for (let at = 0; at < ref.length; at += 2) key += String.fromCharCode(((ref[at] as number) << 8) | (ref[at + 1] as number))
  return key
}

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
