// Compression of the pieces of blobs. The codec is stored beside the bytes, so a piece can be read whatever later pieces use.

import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import { PIECE_BYTES } from '../../model/blob.ts'

const [compress, decompress] = [promisify(zstdCompress), promisify(zstdDecompress)]

export interface EncodedPiece {
  readonly codec: string
  readonly body: Uint8Array
}

export async function encodePiece(bytes: Uint8Array, compressed: boolean): Promise<EncodedPiece> {
  if (compressed) {
    const body = await compress(bytes)
    if (body.length < bytes.length) return { codec: 'zstd', body }
  }
  return { codec: 'plain', body: bytes }
}

/** Bytes that cannot be decoded are returned as they are: they do not have the digest of the piece, and the kernel refuses them. */
export async function decodePiece(codec: string, body: Uint8Array): Promise<Uint8Array> {
  if (codec === 'plain') return body
  try {
    return new Uint8Array(await decompress(body, { maxOutputLength: PIECE_BYTES }))
  } catch {
    return body
  }
}
