// Blobs of a store on SQLite: a row in the database for each, and the bytes in a file beside it. The row becomes present only after the bytes
// are flushed. Rows change, and files are deleted, only under the write lock, so a put and a garbage collection cannot miss each other.

import { checkDigest } from '../../model/blob.ts'
import { refuse } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import { checkActive } from '../../model/tenant.ts'
import type { Blobs } from '../../ports/blobs.ts'
import type { BlobFiles, UploadFile } from './blob-files.ts'
import { BlobRows, type NewPiece } from './blob-rows.ts'
import { decodePiece, encodePiece } from './codec.ts'
import type { Database } from './database.ts'
import { GroupedWrites } from './grouped-writes.ts'
import { ifActive, readHead } from './heads.ts'
import { reading } from './transaction.ts'

export interface BlobParts {
  readonly db: Database
  readonly files: BlobFiles
  readonly now: () => number
  /** Runs inside a write transaction, once it has the write lock, also while the store waits for puts before it closes. */
  readonly write: <T>(work: () => T) => Promise<T>
  /** Throws if the store is read-only or closed. */
  readonly checkWritable: () => void
  /** Hears why bytes could not be stored. */
  readonly failed?: (error: unknown) => void
}

export interface FileBlobs extends Blobs {
  /** Resolves once all puts in progress have ended. */
  settled(): Promise<void>
}

/** Files deleted in one transaction: other writers wait meanwhile. */
const DELETED_AT_ONCE = 64

export function fileBlobs({ db, files, now, write, checkWritable, failed }: BlobParts): FileBlobs {
  const rows = new BlobRows(db)
  const grouped = new GroupedWrites(write)
  const busy = new Set<Promise<unknown>>()
  const tracked = async <T>(work: () => Promise<T>): Promise<T> => {
    checkWritable()
    const done = work()
    busy.add(done)
    try {
      return await done
    } catch (error) {
      failed?.(error)
      throw error
    } finally {
      busy.delete(done)
    }
  }
  const active = <T>(tenant: TenantId, work: () => T): T => {
    checkActive(tenant, readHead(db, tenant).state)
    return work()
  }
  const read = <T>(tenant: TenantId, work: () => T): Promise<T> => reading(db, () => ifActive(db, tenant, work) as never)

  /** Names a blob that is there already, with its bytes. The row is written only if the last time is long ago, or a collection runs. */
  const nameAgain = async (tenant: TenantId, digest: string): Promise<boolean> => {
    const isThere = (): boolean => {
      const row = rows.find(tenant, digest)
      return row !== undefined && row.state !== 'deleting' && (row.storage === 'database' || files.sizeOf(tenant, digest) === row.stored)
    }
    const known = await read(tenant, () => ({ there: isThere(), fresh: rows.isFresh(tenant, digest, now()) }))
    if (!known.there || known.fresh) return known.there
    return grouped.add(() =>
      active(tenant, () => {
        const there = isThere()
        if (there) rows.name(tenant, digest, now())
        return there
      }),
    )
  }

  /** Writes the row, unless a collection has deleted the file meanwhile. */
  const enter = (tenant: TenantId, digest: string, pieces: readonly NewPiece[]): Promise<boolean> =>
    grouped.add(() =>
      active(tenant, () => {
        const stored = pieces.reduce((sum, { size }) => sum + size, 0)
        if (!pieces[0]?.body && files.sizeOf(tenant, digest) !== stored) return false
        rows.put(tenant, digest, pieces, now())
        return true
      }),
    )

  const put = async (tenant: TenantId, digest: string, bytes: Uint8Array, compress: boolean, inline: boolean): Promise<void> => {
    if (await nameAgain(tenant, digest)) return
    const { codec, body } = await encodePiece(bytes, compress)
    const piece = { codec, sha256: Buffer.from(digest, 'hex'), bytes: bytes.length, size: body.length }
    if (inline) return void (await enter(tenant, digest, [{ ...piece, body }]))
    if ((await files.put(tenant, digest, body)) && (await enter(tenant, digest, [piece]))) return
    // Collections that follow each other would delete it every time, so it gets a lock, as a stream does.
    for (let done = false; !done; ) {
      const file = await files.create(tenant)
      done = await dropping(file, async () => {
        await file.add(body)
        return finish(tenant, digest, file, [piece])
      })
    }
  }

  /** False if a collection deleted the file of a put that was quicker. */
  const finish = async (tenant: TenantId, digest: string, file: UploadFile, pieces: readonly NewPiece[]): Promise<boolean> => {
    checkDigest(digest)
    return dropping(file, async () => {
      if (await nameAgain(tenant, digest)) return true
      // A deletion that has begun is finished first, or it would delete the new file.
      await grouped.add(() => active(tenant, () => finishDelete(tenant, digest)))
      return files.adopt(tenant, digest, file, () => enter(tenant, digest, pieces))
    })
  }

  /** False if a put has made the blob present meanwhile. */
  const finishDelete = (tenant: TenantId, digest: string): boolean => {
    const row = rows.find(tenant, digest)
    if (row?.state !== 'deleting') return false
    if (row.storage === 'file') files.remove(tenant, digest)
    rows.remove(tenant, digest)
    return true
  }

  return {
    put: async (tenant, digest, bytes, { compress = false, inline = false } = {}) => {
      checkDigest(digest)
      await tracked(() => put(tenant, digest, bytes, compress, inline))
    },
    write: async (tenant, { compress = false } = {}) => {
      const file = await tracked(async () => {
        await read(tenant, () => {})
        return files.create(tenant)
      })
      const pieces: NewPiece[] = []
      return {
        add: (bytes, sha256) =>
          tracked(async () => {
            const { codec, body } = await encodePiece(bytes, compress)
            await file.add(body)
            pieces.push({ codec, sha256, bytes: bytes.length, size: body.length })
          }),
        finish: (digest) =>
          tracked(async () => {
            if (!(await finish(tenant, digest, file, pieces))) throw refuse('BLOB_UNKNOWN', { digest, tenant })
          }),
        abandon: () => file.drop(),
      }
    },
    get: async (tenant, digest, n) => {
      checkDigest(digest)
      const piece = await read(tenant, () => rows.piece(tenant, digest, n))
      if (!piece) return undefined
      const body = piece.body ?? (await files.read(tenant, digest, piece))
      // The state is checked after the read: if the tenant is active then, nothing closed was read.
      await read(tenant, () => {})
      return body && { body: await decodePiece(piece.codec, body), sha256: piece.sha256, bytes: piece.bytes }
    },
    has: async (tenant, digests) => {
      for (const digest of digests) checkDigest(digest)
      return read(tenant, () => digests.map((digest) => rows.isReadable(tenant, digest)))
    },
    list: (tenant, after, limit) => read(tenant, () => rows.list(tenant, after, limit)),
    condemn: async ({ tenant, number, digests, before, seen }) => {
      checkWritable()
      return write(() =>
        active(tenant, () => {
          if (!rows.isCollecting(tenant, number)) return 'replaced'
          if (rows.countNamed(tenant, number) !== seen) return 'named'
          for (const digest of digests) rows.condemn(tenant, digest, number, before)
          return 'condemned'
        }),
      )
    },
    // Rows are `deleting` on disk before the first file goes: after a crash, no commit can name a blob whose file may be gone.
    remove: async (tenant, number, digests) => {
      checkWritable()
      const doomed = await write(() =>
        active(tenant, () =>
          rows.isCollecting(tenant, number) ? digests.filter((digest) => rows.beginDelete(tenant, digest)) : undefined,
        ),
      )
      if (!doomed) return 'replaced'
      const gone: string[] = []
      for (let at = 0; at < doomed.length; at += DELETED_AT_ONCE) {
        const some = doomed.slice(at, at + DELETED_AT_ONCE)
        gone.push(...(await write(() => some.filter((digest) => finishDelete(tenant, digest)))))
      }
      return gone
    },
    // The locks of uploads tell the living from the dead, so nothing has to be quiet.
    sweep: async (tenant) => {
      checkWritable()
      let freed = 0
      const isKept = (digest: string | undefined) => digest !== undefined && rows.find(tenant, digest)?.storage === 'file'
      for await (const { digest, remove } of files.found(tenant)) {
        // Most files are of blobs, and the writers need not wait while they are counted.
        if (await read(tenant, () => isKept(digest))) continue
        freed += await write(() => (isKept(digest) ? 0 : remove()))
      }
      return freed
    },
    settled: async () => void (await Promise.allSettled(busy)),
  }
}

async function dropping<T>(file: UploadFile, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    await file.drop()
  }
}
