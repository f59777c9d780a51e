// Blobs of a store on SQLite: files beside the database. The database tells whether their tenant is active.

import { checkDigest } from '../../model/blob.ts'
import type { TenantId } from '../../model/ids.ts'
import type { Blobs } from '../../ports/blobs.ts'
import type { BlobFiles } from './blob-files.ts'

export interface BlobParts {
  readonly files: (tenant: TenantId) => BlobFiles
  /** Throws if the store is read-only or closed. */
  readonly checkWritable: () => void
  /** Hears why bytes could not be stored. */
  readonly failed?: (error: unknown) => void
  /** Throws TENANT_CLOSED unless the tenant is active; checked in the store each time. */
  readonly checkActive: (tenant: TenantId) => Promise<void>
}

export interface FileBlobs extends Blobs {
  /** Resolves once all puts in progress have ended. */
  settled(): Promise<void>
}

export function fileBlobs({ files, checkWritable, failed, checkActive }: BlobParts): FileBlobs {
  const putting = new Set<Promise<void>>()
  return {
    put: async (tenant, digest, bytes) => {
      checkDigest(digest)
      checkWritable()
      const done = checkActive(tenant).then(() => files(tenant).put(tenant, digest, bytes))
      putting.add(done)
      try {
        await done
      } catch (error) {
        failed?.(error)
        throw error
      } finally {
        putting.delete(done)
      }
    },
    // The state is checked after the read: if the tenant is active then, nothing closed was read.
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
