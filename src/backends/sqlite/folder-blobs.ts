// Blobs of a folder store: rows in the file of their tenant, bytes beside it. The first blob creates the file, as the first commit does.

import { checkDigest } from '../../model/blob.ts'
import { assert, refuse } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import type { Blobs } from '../../ports/blobs.ts'
import type { HeldFile, OpenFiles } from './open-files.ts'

export interface FolderBlobParts {
  readonly files: OpenFiles
  readonly readOnly: boolean
  readonly closed: () => boolean
  /** Works in the tenant's file, or in an empty store where there is none. */
  readonly read: <T>(tenant: TenantId, work: (file: { readonly blobs: Blobs }) => Promise<T>) => Promise<T>
}

export interface FolderBlobs extends Blobs {
  /** Resolves once all puts in progress have ended. */
  settled(): Promise<void>
}

export function folderBlobs({ files, readOnly, closed, read }: FolderBlobParts): FolderBlobs {
  const busy = new Set<Promise<void>>()
  const hold = async (tenant: TenantId): Promise<HeldFile> => {
    if (closed()) throw refuse('STORE_CLOSED')
    if (readOnly) throw refuse('FILE_READ_ONLY', { path: files.folder, reason: 'it was opened with readOnly' })
    const file = await files.hold(tenant, true)
    assert(file, 'a file that is to be made is opened or refused')
    return file
  }
  const put: Blobs['put'] = async (tenant, digest, bytes, storage) => {
    const file = await hold(tenant)
    try {
      await file.backend.blobs.put(tenant, digest, bytes, storage)
    } finally {
      file.release()
    }
  }
  return {
    put: async (tenant, digest, bytes, storage) => {
      checkDigest(digest)
      const done = put(tenant, digest, bytes, storage)
      busy.add(done)
      await done.finally(() => busy.delete(done))
    },
    // The file stays open until the blob is finished.
    write: async (tenant, storage, mark) => {
      const file = await hold(tenant)
      try {
        const writer = await file.backend.blobs.write(tenant, storage, mark)
        const ending = async (work: () => Promise<void>): Promise<void> => {
          try {
            await work()
          } finally {
            file.release()
          }
        }
        return {
          add: (piece, sha256) => writer.add(piece, sha256),
          finish: (digest) => ending(() => writer.finish(digest)),
          abandon: () => ending(() => writer.abandon()),
        }
      } catch (error) {
        file.release()
        throw error
      }
    },
    get: (tenant, digest, piece) => read(tenant, ({ blobs }) => blobs.get(tenant, digest, piece)),
    has: (tenant, digests) => read(tenant, ({ blobs }) => blobs.has(tenant, digests)),
    list: (tenant, after, limit) => read(tenant, ({ blobs }) => blobs.list(tenant, after, limit)),
    condemn: (collected) => read(collected.tenant, ({ blobs }) => blobs.condemn(collected)),
    remove: (tenant, number, digests) => read(tenant, ({ blobs }) => blobs.remove(tenant, number, digests)),
    sweep: (tenant, quietMs, fateOf) => read(tenant, ({ blobs }) => blobs.sweep(tenant, quietMs, fateOf)),
    settled: async () => void (await Promise.allSettled(busy)),
  }
}
