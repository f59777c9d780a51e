// Compression of nodes. The first byte of a node is its kind, below 64; two bits above it say how the rest is stored.

import { deflateRawSync, inflateRawSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

const DEFLATE = 0x80
const ZSTD = 0x40
/** A smaller node costs more time than it saves space. */
const PACKED_FROM = 512
/** Deflate makes short text smaller, and takes too long for long text. */
const ZSTD_FROM = 4096
/** No node is longer. */
const NODE_MOST = 1024 * 1024

export function packNode(body: Uint8Array): Uint8Array {
  if (body.length < PACKED_FROM || (body[0] as number) >= ZSTD) return body
  const isLong = body.length >= ZSTD_FROM
  const packed = isLong ? zstdCompressSync(body.subarray(1)) : deflateRawSync(body.subarray(1))
  if (packed.length + 1 > body.length - body.length / 8) return body
  const stored = new Uint8Array(packed.length + 1)
  stored[0] = (body[0] as number) | (isLong ? ZSTD : DEFLATE)
  stored.set(packed, 1)
  return stored
}

/** Bytes that cannot be unpacked are returned as they are: they do not have the digest of the node, and the kernel refuses them. */
export function unpackNode(stored: Uint8Array): Uint8Array {
  const [first = 0] = stored
  if (first < ZSTD) return stored
  try {
    const options = { maxOutputLength: NODE_MOST }
    const rest = first & DEFLATE ? inflateRawSync(stored.subarray(1), options) : zstdDecompressSync(stored.subarray(1), options)
    const body = new Uint8Array(rest.length + 1)
    body[0] = first & (ZSTD - 1)
    body.set(rest, 1)
    return body
  } catch {
    return stored
  }
}
