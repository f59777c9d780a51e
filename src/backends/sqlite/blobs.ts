// Blobs of a store on SQLite: files beside the database, which says whether their tenant may be used.

import { checkDigest } from '../../model/blob.ts'
import type { TenantId } from '../../model/ids.ts'
import type { Blobs } from '../../ports/blobs.ts'
import type { BlobFiles } from './blob-files.ts'

export interface BlobParts {
  readonly files: (tenant: TenantId) => BlobFiles
  /** Throws where nothing may be written. */
  readonly checkWritable: () => void
  /** Throws TENANT_CLOSED unless the tenant is active; asked of the store each time. */
  readonly checkActive: (tenant: TenantId) => Promise<void>
}

export interface FileBlobs extends Blobs {
  /** Once everything that is being put is done with: after that nothing is written any more. */
  settled(): Promise<void>
}

export function fileBlobs({ files, checkWritable, checkActive }: BlobParts): FileBlobs {
  const putting = new Set<Promise<void>>()
  return {
    put: async (tenant, digest, bytes) => {
      checkDigest(digest)
      checkWritable()
      const done = checkActive(tenant).then(() => files(tenant).put(tenant, digest, bytes))
      putting.add(done)
      try {
        await done
      } finally {
        putting.delete(done)
      }
    },
    // Looked up after the read: whoever finds the tenant active then has read nothing that was closed.
    get: async (tenant, digest) => {
      checkDigest(digest)
      const bytes = await files(tenant).get(tenant, digest)
      await checkActive(tenant)
      return bytes
    },
    has: async (tenant, digests) => {
      for (const digest of digests) checkDigest(digest)
      const found = await files(tenant).has(tenant, digests)
      await checkActive(tenant)
      return found
    },
    settled: async () => void (await Promise.allSettled(putting)),
  }
}
