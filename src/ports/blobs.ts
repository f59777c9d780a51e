// Immutable bytes named by their SHA-256, per tenant. The kernel computes the digests and checks them again on reading. A backend trusts the
// name, but refuses anything that is not a digest first. Blobs cannot be rebuilt from the journal, so they need the same backup.

import type { BlobState } from '../model/blob.ts'
import type { TenantId } from '../model/ids.ts'
import type { Fate, ProcessMark } from './environment.ts'

/** How bytes are stored. A backend may ignore both. */
export interface BlobStorage {
  /** Compress pieces that become smaller by it. */
  readonly compress?: boolean
  /** The bytes are few: keep them in the database. */
  readonly inline?: boolean
}

/** A piece as it was put, uncompressed. */
export interface BlobPiece {
  readonly body: Uint8Array
  /** SHA-256 of the piece, as it was put. */
  readonly sha256: Uint8Array
  /** Bytes of the whole blob. */
  readonly bytes: number
}

export interface BlobInfo {
  readonly digest: string
  readonly bytes: number
  /** Bytes as they are stored. */
  readonly stored: number
  readonly state: BlobState
  /** Store time of when it was put, or later: of when a put or a commit last named it. */
  readonly at: number
}

/** A blob that is being written. It cannot be read before `finish` has resolved. */
export interface BlobWriter {
  /** Adds the next piece: PIECE_BYTES, or fewer if it is the last one. The caller must not change the bytes meanwhile. */
  add(piece: Uint8Array, sha256: Uint8Array): Promise<void>
  /** Durable when it resolves, as `put` is. */
  finish(digest: string): Promise<void>
  /** Drops what was added. Does nothing after `finish`. */
  abandon(): Promise<void>
}

/** All reject with TENANT_CLOSED when the tenant is not active. */
export interface Blobs {
  /** Stores a blob of one piece. Durable when it resolves, and idempotent. The caller must not change the bytes meanwhile. */
  put(tenant: TenantId, digest: string, bytes: Uint8Array, storage?: BlobStorage): Promise<void>
  /** Begins a blob of any size. The mark is that of this process, if it has one. */
  write(tenant: TenantId, storage?: BlobStorage, mark?: ProcessMark): Promise<BlobWriter>
  /** A piece, counted from 0. Undefined if there is no such blob. */
  get(tenant: TenantId, digest: string, piece: number): Promise<BlobPiece | undefined>
  /** In the order asked. */
  has(tenant: TenantId, digests: readonly string[]): Promise<readonly boolean[]>
  /** In the order of the digests, in every state. */
  list(tenant: TenantId, after: string | undefined, limit: number): Promise<readonly BlobInfo[]>
  /**
   * Condemns blobs for a collection of the tenant (see `Values`): those that are present, were last put or named before this time, and not
   * since the collection began. It condemns nothing and answers `named` if more than `seen` older nodes have been named since the collection
   * began, and `replaced` if another collection has begun.
   */
  condemn(collected: CondemnedBlobs): Promise<'condemned' | 'named' | 'replaced'>
  /** Deletes those that are condemned, and what an earlier collection was deleting. Answers with what it deleted. */
  remove(tenant: TenantId, number: number, digests: readonly string[]): Promise<readonly string[] | 'replaced'>
  /**
   * Deletes what puts of dead processes left behind, and nothing of living ones. A backend that cannot tell them apart by itself asks for the
   * fate of the process; where that is unknown, nothing must have been added for `quietMs`. Answers with the bytes it freed.
   */
  sweep(tenant: TenantId, quietMs: number, fateOf?: (mark: ProcessMark) => Fate): Promise<number>
}

export interface CondemnedBlobs {
  readonly tenant: TenantId
  /** The number of the collection. */
  readonly number: number
  readonly digests: readonly string[]
  readonly before: number
  readonly seen: number
}
