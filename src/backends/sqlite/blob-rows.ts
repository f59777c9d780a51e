// The rows of blobs and their pieces in the database. Every change runs inside the caller's transaction.

import { BLOB_NAMED_AGAIN_MS, type BlobState } from '../../model/blob.ts'
import type { TenantId } from '../../model/ids.ts'
import type { BlobInfo } from '../../ports/blobs.ts'
import type { Commit } from '../../ports/commit.ts'
import type { Database } from './database.ts'

const findBlob = 'select bytes, stored, storage, state, at, number from blobs where tenant = ? and digest = ?'
const findPiece = `
  select b.bytes, p.codec, p.sha256, p.start, p.size, p.body
  from blobs b join blob_pieces p on p.tenant = b.tenant and p.place = b.place and p.n = ?3
  where b.tenant = ?1 and b.digest = ?2 and b.state <> 'deleting'`
const listBlobs = 'select digest, bytes, stored, state, at from blobs where tenant = ? and digest > ? order by digest limit ?'
const collecting = 'select number from collections where tenant = ? and active = 1'
const countNamed = 'select count(*) as count from named_nodes where tenant = ? and number = ?'
const putBlob = `
  insert into blobs (tenant, digest, bytes, stored, storage, place, state, at, number) values (?1, ?2, ?3, ?4, ?5, ?2, 'present', ?6, ?7)
  on conflict (tenant, digest) do update set stored = excluded.stored, storage = excluded.storage, state = excluded.state, at = excluded.at,
    number = excluded.number`
const putPiece = 'insert into blob_pieces (tenant, place, n, codec, sha256, start, size, at, body) values (?, ?, ?, ?, ?, ?, ?, ?, ?)'
const dropPieces = 'delete from blob_pieces where tenant = ? and place = ?'
const dropBlob = 'delete from blobs where tenant = ? and digest = ?'
const nameBlob = `
  update blobs set state = 'present', at = ?3, number = coalesce(c.number, blobs.number)
  from (select ?1 as tenant) x left join collections c on c.tenant = x.tenant and c.active = 1
  where blobs.tenant = ?1 and blobs.digest = ?2 and blobs.state <> 'deleting'
    and (blobs.state <> 'present' or blobs.number <> coalesce(c.number, blobs.number) or ?3 - blobs.at > ${BLOB_NAMED_AGAIN_MS})`
const condemnBlob = `
  update blobs set state = 'condemned' where tenant = ? and digest = ? and state = 'present' and number <> ? and at < ?`
const deleteBlob = `update blobs set state = 'deleting' where tenant = ? and digest = ? and state in ('condemned', 'deleting')`

/** A piece on its way into the database. Without a body, its bytes are in the file. */
export interface NewPiece {
  readonly codec: string
  readonly sha256: Uint8Array
  /** Plain bytes. */
  readonly bytes: number
  /** Stored bytes. */
  readonly size: number
  readonly body?: Uint8Array
}

export interface StoredPiece {
  readonly codec: string
  readonly sha256: Uint8Array
  readonly start: number
  readonly size: number
  readonly body: Uint8Array | null
  /** Plain bytes of the whole blob. */
  readonly bytes: number
}

interface BlobRow {
  readonly stored: number
  readonly storage: 'file' | 'database'
  readonly state: BlobState
  readonly at: number
  readonly number: number
}

export class BlobRows {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  find(tenant: TenantId, digest: string): BlobRow | undefined {
    return this.#db.get(findBlob, tenant, digest) as BlobRow | undefined
  }

  isReadable(tenant: TenantId, digest: string): boolean {
    return isReadableBlob(this.#db, tenant, digest)
  }

  /** Whether naming the blob now would change nothing. */
  isFresh(tenant: TenantId, digest: string, now: number): boolean {
    const row = this.find(tenant, digest)
    const number = this.#collecting(tenant)
    return row?.state === 'present' && now - row.at <= BLOB_NAMED_AGAIN_MS && (number === 0 || row.number === number)
  }

  piece(tenant: TenantId, digest: string, n: number): StoredPiece | undefined {
    return this.#db.get(findPiece, tenant, digest, n) as StoredPiece | undefined
  }

  list(tenant: TenantId, after: string | undefined, limit: number): readonly BlobInfo[] {
    return this.#db.all(listBlobs, tenant, after ?? '', limit).map((row) => ({ ...(row as { [K in keyof BlobInfo]: BlobInfo[K] }) }))
  }

  put(tenant: TenantId, digest: string, pieces: readonly NewPiece[], now: number): void {
    const sum = (of: 'bytes' | 'size'): number => pieces.reduce((total, piece) => total + piece[of], 0)
    const storage = pieces[0]?.body ? 'database' : 'file'
    this.#db.run(putBlob, tenant, digest, sum('bytes'), sum('size'), storage, now, this.#collecting(tenant))
    this.#db.run(dropPieces, tenant, digest)
    let start = 0
    for (const [n, { codec, sha256, size, body }] of pieces.entries()) {
      this.#db.run(putPiece, tenant, digest, n, codec, sha256, start, size, now, body ?? null)
      start += size
    }
  }

  name(tenant: TenantId, digest: string, now: number): void {
    this.#db.run(nameBlob, tenant, digest, now)
  }

  isCollecting(tenant: TenantId, number: number): boolean {
    return this.#collecting(tenant) === number
  }

  countNamed(tenant: TenantId, number: number): number {
    return this.#db.get(countNamed, tenant, number)?.count as number
  }

  condemn(tenant: TenantId, digest: string, number: number, before: number): void {
    this.#db.run(condemnBlob, tenant, digest, number, before)
  }

  /** False if it is neither condemned nor being deleted. */
  beginDelete(tenant: TenantId, digest: string): boolean {
    return this.#db.run(deleteBlob, tenant, digest) === 1
  }

  remove(tenant: TenantId, digest: string): void {
    this.#db.run(dropPieces, tenant, digest)
    this.#db.run(dropBlob, tenant, digest)
  }

  /** The number of the collection that is under way, or 0. */
  #collecting(tenant: TenantId): number {
    return (this.#db.get(collecting, tenant)?.number as number | undefined) ?? 0
  }
}

export function isReadableBlob(db: Database, tenant: TenantId, digest: string): boolean {
  const state = db.get(findBlob, tenant, digest)?.state
  return state !== undefined && state !== 'deleting'
}

/** Notes the blobs that a commit names, and makes condemned ones present again. Runs inside the caller's transaction. */
export function nameBlobs(db: Database, { tenant, guards, events }: Commit, now: number): void {
  for (const guard of guards) if (guard.kind === 'blob') db.run(nameBlob, tenant, guard.digest, now)
  for (const { refs = [] } of events) for (const ref of refs) if (ref.startsWith('blob:')) db.run(nameBlob, tenant, ref.slice(5), now)
}
