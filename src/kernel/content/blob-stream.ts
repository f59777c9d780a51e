// A blob as a stream: bytes that come in chunks are written in pieces, and pieces are read one at a time. Memory holds one piece.

import { type BlobRef, PIECE_BYTES } from '../../model/blob.ts'
import { hex, sameBytes } from '../../model/bytes.ts'
import { type InkError, refuse } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../model/options.ts'
import type { BlobPiece, BlobWriter } from '../../ports/blobs.ts'
import { stopIfAsked } from '../reading/abortable.ts'
import { checkOpen, type Scope } from '../wiring/scope.ts'
import type { BlobDescription } from './blob-storage.ts'

export interface BlobRange {
  /** The first byte to read. The default is 0. */
  readonly from?: number
  /** The byte before which to stop. The default is the end. */
  readonly to?: number
  readonly signal?: AbortSignal
}

type Chunks = AsyncIterable<Uint8Array>

/** Writes a stream. Nothing is stored if the stream fails, has something else than bytes in it, or has more than `most` bytes. */
export async function putChunks(scope: Scope, chunks: Chunks, about: BlobDescription, most: number = limits.blobBytes): Promise<BlobRef> {
  const { backend, environment } = scope.engine
  const whole = environment.digest.hasher()
  const piece = new Uint8Array(PIECE_BYTES)
  let [filled, bytes] = [0, 0]
  let writer: BlobWriter | undefined
  const flush = async (): Promise<void> => {
    checkOpen(scope.engine)
    writer ??= await backend.blobs.write(scope.tenant, about.storage(bytes), environment.liveness?.self)
    const part = piece.subarray(0, filled)
    await writer.add(part, environment.digest.sha256(part))
    filled = 0
  }
  try {
    for await (const chunk of chunks) {
      if (!(chunk instanceof Uint8Array)) throw invalidOption('bytes', 'a stream of Uint8Array', chunk)
      bytes += chunk.length
      if (bytes > most) throw refuse('BLOB_TOO_LARGE', { bytes, limit: most })
      for (let at = 0; at < chunk.length; ) {
        if (filled === PIECE_BYTES) await flush()
        const part = chunk.subarray(at, at + PIECE_BYTES - filled)
        piece.set(part, filled)
        // Digested from the copy: the caller may use its buffer again.
        whole.update(piece.subarray(filled, filled + part.length))
        filled += part.length
        at += part.length
      }
    }
    const digest = hex(whole.digest())
    if (!writer) {
      checkOpen(scope.engine)
      await backend.blobs.put(scope.tenant, digest, piece.subarray(0, filled), about.storage(bytes))
    } else {
      await flush()
      await writer.finish(digest)
    }
    return { digest, bytes, ...about.words }
  } catch (error) {
    // The first error is the one to tell. A later collection deletes what could not be dropped now.
    await writer?.abandon().catch(() => {})
    throw error
  }
}

/** Bytes in memory as a stream of one piece after the other. */
export async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES)
}

/**
 * Reads a range piece by piece. Each piece is checked against its own digest before any byte of it is returned. If the range is the whole blob,
 * the bytes are checked against its name before the last piece is returned.
 */
export async function* readChunks(scope: Scope, digest: string, { from, to, signal }: TakenRange): AsyncGenerator<Uint8Array> {
  const { sha256, hasher } = scope.engine.environment.digest
  stopIfAsked(scope, signal)
  const nth = Math.floor(from / PIECE_BYTES)
  let first = await readPiece(scope, digest, nth)
  // The range may begin behind the end. Only the first piece tells how long the blob is, and whether there is one.
  if (!first) {
    const head = nth === 0 ? undefined : await readPiece(scope, digest, 0)
    if (!head) throw refuse('BLOB_UNKNOWN', { digest, tenant: scope.tenant })
    if (from >= head.bytes) return
    throw await lostPiece(scope, digest, nth)
  }
  const { bytes } = first
  const end = Math.min(to, bytes)
  const whole = from === 0 && end === bytes ? hasher() : undefined
  for (let at = from; at < end; ) {
    stopIfAsked(scope, signal)
    const n = Math.floor(at / PIECE_BYTES)
    const piece: BlobPiece | undefined = first ?? (await readPiece(scope, digest, n))
    first = undefined
    if (!piece) throw await lostPiece(scope, digest, n)
    if (!sameBytes(sha256(piece.body), piece.sha256) || piece.body.length !== Math.min(PIECE_BYTES, bytes - n * PIECE_BYTES))
      throw refuse('BLOB_DAMAGED', { digest, tenant: scope.tenant, piece: n, bytes: piece.body.length })
    const start = n * PIECE_BYTES
    const part = piece.body.subarray(at - start, end - start)
    at += part.length
    whole?.update(part)
    const name = whole && at === end ? hex(whole.digest()) : digest
    if (name !== digest) throw refuse('BLOB_DAMAGED', { digest, tenant: scope.tenant, found: name, bytes })
    yield part
  }
}

/** A collection may delete a blob while it is read. If the blob is still there, its piece is lost. */
async function lostPiece({ engine, tenant }: Scope, digest: string, n: number): Promise<InkError> {
  const [isThere] = await engine.backend.blobs.has(tenant, [digest])
  return isThere ? refuse('BLOB_DAMAGED', { digest, tenant, piece: n, bytes: 0 }) : refuse('BLOB_UNKNOWN', { digest, tenant })
}

export function readPiece({ engine, tenant }: Scope, digest: string, n: number): Promise<BlobPiece | undefined> {
  checkOpen(engine)
  return engine.backend.blobs.get(tenant, digest, n)
}

export interface TakenRange {
  readonly from: number
  readonly to: number
  readonly signal?: AbortSignal | undefined
}

export function rangeOf(range: BlobRange | undefined, call: string): TakenRange {
  const { from = 0, to = Number.MAX_SAFE_INTEGER, signal, ...unknown } = optionsOf(range, call)
  checkKnown(unknown, 'a range')
  if (!Number.isSafeInteger(from) || from < 0) throw invalidOption('from', 'an integer ≥ 0', from)
  if (!Number.isSafeInteger(to) || to < from) throw invalidOption('to', 'an integer ≥ from', to)
  return { from, to, signal }
}
