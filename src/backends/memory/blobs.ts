// Blobs in a map by their digest. Bytes are copied in and out, so that callers cannot change the stored ones.

import { checkDigest } from '../../model/blob.ts'
import type { Blobs } from '../../ports/blobs.ts'
import { activeTenant, type MemoryState } from './state.ts'

export function blobs(state: MemoryState, checkOpen: () => void): Blobs {
  return {
    put: async (id, digest, bytes) => {
      checkDigest(digest)
      checkOpen()
      const tenant = activeTenant(state, id)
      state.tenants.set(id, tenant)
      if (!tenant.blobs.has(digest)) tenant.blobs.set(digest, new Uint8Array(bytes))
    },
    get: async (id, digest) => {
      checkDigest(digest)
      const kept = activeTenant(state, id).blobs.get(digest)
      return kept && new Uint8Array(kept)
    },
    has: async (id, digests) => {
      for (const digest of digests) checkDigest(digest)
      const tenant = activeTenant(state, id)
      return digests.map((digest) => tenant.blobs.has(digest))
    },
  }
}
