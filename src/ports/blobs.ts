// Immutable bytes named by their SHA-256, each in its tenant. The kernel computes the digest and checks it again when it reads; a backend
// trusts the name, and refuses one that is no digest before it does anything else. Nothing is folded from blobs, and none can be made
// anew: they are as much worth keeping as the journal.

import type { TenantId } from '../model/ids.ts'

/** All three are refused with TENANT_CLOSED when the tenant is not active. A tenant that has put nothing but blobs is not listed. */
export interface Blobs {
  /** Durable when it resolves. Putting the same bytes twice is putting them once. Nobody changes the bytes meanwhile. */
  put(tenant: TenantId, digest: string, bytes: Uint8Array): Promise<void>
  get(tenant: TenantId, digest: string): Promise<Uint8Array | undefined>
  /** In the order asked. */
  has(tenant: TenantId, digests: readonly string[]): Promise<readonly boolean[]>
}
