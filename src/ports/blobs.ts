// Immutable bytes named by their SHA-256, per tenant. The kernel computes the digest and checks it again on reading. A backend trusts the
// name, but refuses anything that is not a digest first. Blobs cannot be rebuilt from the journal, so they need the same backup.

import type { TenantId } from '../model/ids.ts'

/** All three reject with TENANT_CLOSED when the tenant is not active. A tenant that has only blobs is not listed. */
export interface Blobs {
  /** Durable when it resolves, and idempotent. The caller must not change the bytes meanwhile. */
  put(tenant: TenantId, digest: string, bytes: Uint8Array): Promise<void>
  get(tenant: TenantId, digest: string): Promise<Uint8Array | undefined>
  /** In the order asked. */
  has(tenant: TenantId, digests: readonly string[]): Promise<readonly boolean[]>
}
