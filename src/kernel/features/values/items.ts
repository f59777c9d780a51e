// Items as bytes: skipping one, and finding the refs in it.

import { sameBytes } from '../../../model/bytes.ts'
import { Malformed, type Reader } from './bytes.ts'
import { KEY, REF_BYTES, TAG } from './format.ts'

/** Hears of every ref in the items that are walked over. */
export interface RefVisitor {
  /** A node that may have children. */
  node(ref: Uint8Array): void
  /** A node without children. */
  leaf(ref: Uint8Array): void
  /** A blob, by the bytes of its digest. */
  blob(digest: Uint8Array): void
  /** A text of 64 bytes under the key `digest`: the reference of a blob, as the caller's data holds it. */
  digest?(text: Uint8Array): void
}

const DIGEST_KEY = Uint8Array.from('digest', (letter) => letter.charCodeAt(0))
const DIGEST_CHARS = 64

export function skipKey(reader: Reader): Uint8Array | undefined {
  const header = reader.varint()
  return (header & 3) === KEY.word ? undefined : reader.take(Math.floor(header / 4))
}

/** Moves the reader behind one member of an object. */
export function skipMember(reader: Reader, visitor?: RefVisitor): void {
  const key = skipKey(reader)
  const at = reader.at
  if (visitor?.digest && key && sameBytes(key, DIGEST_KEY) && reader.u8() === TAG.string && reader.varint() === DIGEST_CHARS)
    visitor.digest(reader.take(DIGEST_CHARS))
  reader.at = at
  skipItem(reader, visitor)
}

/** Moves the reader behind one item. */
export function skipItem(reader: Reader, visitor?: RefVisitor): void {
  const tag = reader.u8()
  switch (tag) {
    case TAG.null:
    case TAG.false:
    case TAG.true:
      return
    case TAG.integer:
      reader.varint()
      return
    case TAG.float:
      reader.take(8)
      return
    case TAG.string:
    case TAG.wide:
    case TAG.bytes:
      reader.take(reader.varint())
      return
    case TAG.array:
      for (let left = reader.varint(); left > 0; left--) skipItem(reader, visitor)
      return
    case TAG.object:
      for (let left = reader.varint(); left > 0; left--) skipMember(reader, visitor)
      return
    case TAG.ref: {
      const ref = reader.take(REF_BYTES)
      visitor?.node(ref)
      return
    }
    case TAG.word:
      reader.u8()
      return
    case TAG.uuid:
      reader.take(16)
      return
    case TAG.leaf: {
      const ref = reader.take(REF_BYTES)
      visitor?.leaf(ref)
      return
    }
    case TAG.blobString:
    case TAG.blobWide:
    case TAG.blobBytes: {
      const digest = reader.take(REF_BYTES)
      reader.varint()
      visitor?.blob(digest)
      return
    }
    default:
      throw new Malformed(`the item has the unknown tag ${tag}`)
  }
}
