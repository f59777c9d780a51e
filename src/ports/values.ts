// Nodes of values, named by their digest, per tenant. They are written in commits. If a node exists, all nodes and blobs below it exist.

import type { TenantId } from '../model/ids.ts'

export interface Values {
  /**
   * The bodies in the order of the refs, undefined where there is no such node. Rejects with TENANT_CLOSED when the tenant is not active.
   * The caller checks the digests.
   */
  get(tenant: TenantId, refs: readonly Uint8Array[]): Promise<readonly (Uint8Array | undefined)[]>
}
