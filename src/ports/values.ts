// Nodes of values, named by their digest, per tenant. They are written in commits. If a node exists, all nodes and blobs below it exist.

import type { TenantId } from '../model/ids.ts'

/** A garbage collection of one tenant that has begun. */
export interface Collection {
  /** Grows with every collection of the tenant. A later one replaces an earlier one. */
  readonly number: number
  /** The newest node at its begin. Nodes written later have higher ids, and are never removed by it. */
  readonly top: number
}

export interface ScannedNode {
  /** Grows with every node of the tenant. A child that was written with or before its parent has a lower one. */
  readonly id: number
  readonly ref: Uint8Array
  /** Store time of when it was written, or later: of when a commit last named it. */
  readonly at: number
  readonly bytes: number
}

/** All reject with TENANT_CLOSED when the tenant is not active. */
export interface Values {
  /** The bodies in the order of the refs, undefined where there is no such node. The caller checks the digests. */
  get(tenant: TenantId, refs: readonly Uint8Array[]): Promise<readonly (Uint8Array | undefined)[]>
  /** Newest first, with ids up to this one. */
  scan(tenant: TenantId, upTo: number, limit: number): Promise<readonly ScannedNode[]>
  /** References of events to values and blobs, as the commits declared them, in order. */
  references(tenant: TenantId, after: Reference | undefined, limit: number): Promise<readonly Reference[]>
  /**
   * Begins a collection. From now on, the store notes every older node that a commit names or writes again. Waits for commits in progress,
   * as do `remove` and `end`.
   */
  begin(tenant: TenantId): Promise<Collection>
  /** The older nodes that commits have named or written again since the collection began. */
  named(tenant: TenantId, number: number): Promise<readonly Uint8Array[]>
  /**
   * Removes nodes by their ids. It removes nothing and answers `named` if more than `seen` older nodes have been named since the collection
   * began, and `replaced` if another collection has begun.
   */
  remove(tenant: TenantId, number: number, ids: readonly number[], seen: number): Promise<'removed' | 'named' | 'replaced'>
  /** Ends the collection, unless another one has replaced it. */
  end(tenant: TenantId, number: number): Promise<void>
}

export interface Reference {
  readonly seq: number
  /** The ref of a value, or `blob:` and a digest. */
  readonly ref: string
}
