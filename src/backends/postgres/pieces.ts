// Texts and bytes of different sizes, laid end to end and sent as one run of bytes with the place of each. An array would be quoted on this side
// and parsed on the other.

import { Buffer } from 'node:buffer'
import { numbers } from './arrays.ts'

/** Places are counted from 1. All members are null if there are no pieces. */
export interface Pieces {
  readonly from: string | null
  readonly size: string | null
  readonly bytes: Uint8Array | null
}

export function textPieces(texts: readonly string[]): Pieces {
  const bytes = Buffer.allocUnsafe(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0))
  let end = 0
  const sizes = texts.map((text) => {
    const size = bytes.write(text, end)
    end += size
    return size
  })
  return placed(bytes, sizes)
}

export const bytePieces = (pieces: readonly Uint8Array[]): Pieces =>
  placed(
    Buffer.concat(pieces),
    pieces.map(({ length }) => length),
  )

function placed(bytes: Uint8Array, sizes: readonly number[]): Pieces {
  if (sizes.length === 0) return { from: null, size: null, bytes: null }
  let next = 1
  const from = sizes.map((size) => {
    next += size
    return next - size
  })
  return { from: numbers(from), size: numbers(sizes), bytes }
}

/** SQL for one of the pieces. */
export const pieceAt = (bytes: string, from: string, size: string): string => `substring(${bytes} from ${from} for ${size})`
export const textAt = (bytes: string, from: string, size: string): string => `convert_from(${pieceAt(bytes, from, size)}, 'UTF8')`
