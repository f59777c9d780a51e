// Blobs in a map by their digest. Bytes are copied in and out, so that callers cannot change the stored ones. Nothing is compressed.

import { BLOB_NAMED_AGAIN_MS, checkDigest } from '../../model/blob.ts'
import { fromHex } from '../../model/bytes.ts'
import type { TenantId } from '../../model/ids.ts'
import { compareText } from '../../model/order.ts'
import type { Blobs } from '../../ports/blobs.ts'
import type { Commit } from '../../ports/commit.ts'
import { activeTenant, type MemoryBlob, type MemoryState, type MemoryTenant } from './state.ts'

export function blobs(state: MemoryState, now: () => number): Blobs {
  const keep = (id: TenantId, digest: string, pieces: MemoryBlob['pieces']): void => {
    const at = now()
    const tenant = activeTenant(state, id)
    state.tenants.set(id, tenant)
    if (name(tenant, digest, at)) return
    const bytes = pieces.reduce((sum, { body }) => sum + body.length, 0)
    tenant.blobs.set(digest, { pieces, bytes, state: 'present', at, number: collecting(tenant) })
  }
  return {
    put: async (id, digest, bytes) => {
      checkDigest(digest)
      keep(id, digest, [{ body: new Uint8Array(bytes), sha256: fromHex(digest) }])
    },
    write: async (id) => {
      now()
      activeTenant(state, id)
      const pieces: MemoryBlob['pieces'][number][] = []
      return {
        add: async (body, sha256) => void pieces.push({ body: new Uint8Array(body), sha256 }),
        finish: async (digest) => {
          checkDigest(digest)
          keep(id, digest, pieces)
        },
        abandon: async () => {},
      }
    },
    get: async (id, digest, n) => {
      checkDigest(digest)
      const kept = activeTenant(state, id).blobs.get(digest)
      const piece = isReadable(kept) ? kept.pieces[n] : undefined
      return kept && piece && { body: new Uint8Array(piece.body), sha256: piece.sha256, bytes: kept.bytes }
    },
    has: async (id, digests) => {
      for (const digest of digests) checkDigest(digest)
      const tenant = activeTenant(state, id)
      return digests.map((digest) => isReadable(tenant.blobs.get(digest)))
    },
    list: async (id, after = '', limit) =>
      [...activeTenant(state, id).blobs]
        .filter(([digest]) => digest > after)
        .sort(([a], [b]) => compareText(a, b))
        .slice(0, limit)
        .map(([digest, { bytes, state, at }]) => ({ digest, bytes, stored: bytes, state, at })),
    condemn: async ({ tenant: id, number, digests, before, seen }) => {
      const tenant = activeTenant(state, id)
      if (collecting(tenant) !== number) return 'replaced'
      if ([...tenant.named.values()].filter((note) => note.number === number).length !== seen) return 'named'
      for (const digest of digests) {
        const blob = tenant.blobs.get(digest)
        if (blob?.state === 'present' && blob.number !== number && blob.at < before)
          tenant.blobs.set(digest, { ...blob, state: 'condemned' })
      }
      return 'condemned'
    },
    remove: async (id, number, digests) => {
      const tenant = activeTenant(state, id)
      if (collecting(tenant) !== number) return 'replaced'
      return digests.filter((digest) => tenant.blobs.get(digest)?.state === 'condemned' && tenant.blobs.delete(digest))
    },
    sweep: async (id) => {
      activeTenant(state, id)
      return 0
    },
  }
}

export const isReadable = (blob: MemoryBlob | undefined): blob is MemoryBlob => blob !== undefined && blob.state !== 'deleting'

/** Notes the blobs that the tenant has and the commit names. */
export function nameBlobs(tenant: MemoryTenant, commit: Commit, now: number): void {
  for (const guard of commit.guards) if (guard.kind === 'blob') name(tenant, guard.digest, now)
  for (const { refs = [] } of commit.events) for (const ref of refs) if (ref.startsWith('blob:')) name(tenant, ref.slice(5), now)
}

/** False if the tenant has no such blob. */
function name(tenant: MemoryTenant, digest: string, now: number): boolean {
  const blob = tenant.blobs.get(digest)
  if (!isReadable(blob)) return false
  const number = collecting(tenant)
  if (blob.state !== 'present' || (number > 0 && blob.number !== number) || now - blob.at > BLOB_NAMED_AGAIN_MS)
    tenant.blobs.set(digest, { ...blob, state: 'present', at: now, number: number || blob.number })
  return true
}

/** The number of the collection that is under way, or 0. */
const collecting = ({ collection }: MemoryTenant): number => (collection.active ? collection.number : 0)
