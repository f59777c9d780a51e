// Blobs of a folder store: beside the tenant's file, or where it will be. The file appears with the tenant's first commit, and blobs are
// put before the commit that refers to them.

import { join } from 'node:path'
import { refuse } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import type { Blobs } from '../../ports/blobs.ts'
import { BlobFiles } from './blob-files.ts'
import { type FileBlobs, fileBlobs } from './blobs.ts'
import type { OpenFiles } from './open-files.ts'
import { blobFolder, STORE_FILE } from './tenant-files.ts'

export interface FolderBlobParts {
  readonly files: OpenFiles
  readonly readOnly: boolean
  readonly closed: () => boolean
}

export function folderBlobs({ files, readOnly, closed }: FolderBlobParts): FileBlobs {
  const store = join(files.folder, STORE_FILE)
  const withoutFile = fileBlobs({
    files: (tenant) => new BlobFiles(blobFolder(files.pathOf(tenant)), store),
    checkWritable: () => {
      if (closed()) throw refuse('STORE_CLOSED')
      if (readOnly) throw refuse('FILE_READ_ONLY', { path: files.folder, reason: 'it was opened with readOnly' })
    },
    // A tenant without a file cannot have been closed.
    checkActive: async () => {},
  })
  const within = async <T>(tenant: TenantId, work: (blobs: Blobs) => Promise<T>): Promise<T> => {
    const file = await files.hold(tenant)
    if (!file) return work(withoutFile)
    try {
      return await work(file.backend.blobs)
    } finally {
      file.release()
    }
  }
  return {
    put: (tenant, digest, bytes) => within(tenant, (blobs) => blobs.put(tenant, digest, bytes)),
    get: (tenant, digest) => within(tenant, (blobs) => blobs.get(tenant, digest)),
    has: (tenant, digests) => within(tenant, (blobs) => blobs.has(tenant, digests)),
    settled: () => withoutFile.settled(),
  }
}
