// Blobs that hold large data for a commit that is still to come. A garbage collection without grace may delete one in between, so the commit
// guards them, as it guards everything that it refers to. If one is gone, it is put again.

import type { EventDraft } from '../../model/event.ts'
import type { TenantId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { enginePart } from '../wiring/per-engine.ts'
import { blobDigestOf } from './references.ts'

export class FreshBlobs {
  /** In the order of putting, oldest first. A commit that never comes leaves its blobs here, so their bytes are bounded. */
  readonly #bytes = new Map<string, Uint8Array>()
  /** Until when. A write that gives up must not keep its blob from collections and erasures. */
  readonly #awaited = new Map<string, number>()
  #size = 0

  note(tenant: TenantId, digest: string, bytes: Uint8Array): void {
    this.#forget(keyOf(tenant, digest))
    this.#bytes.set(keyOf(tenant, digest), bytes)
    this.#size += bytes.length
    for (const key of this.#bytes.keys()) {
      if (this.#size <= limits.freshBlobBytes) return
      this.#forget(key)
    }
  }

  /** The events are saved, and keep their blobs from now on. */
  settle(tenant: TenantId, events: readonly EventDraft[]): void {
    if (this.#bytes.size > 0) for (const digest of digestsIn(events)) this.#forget(keyOf(tenant, digest))
  }

  /** The bytes of a blob that was deleted before its commit and is put again. Collections of this process keep it for as long as a write is retried. */
  takeAgain(tenant: TenantId, digest: string, now: number): Uint8Array | undefined {
    const bytes = this.#bytes.get(keyOf(tenant, digest))
    if (bytes) this.#awaited.set(keyOf(tenant, digest), now + limits.conflictMs)
    return bytes
  }

  /** Collections without a pause would delete such a blob before each repeated commit. */
  isAwaited(tenant: TenantId, digest: string, now: number): boolean {
    return now < (this.#awaited.get(keyOf(tenant, digest)) ?? 0)
  }

  #forget(key: string): void {
    this.#awaited.delete(key)
    this.#size -= this.#bytes.get(key)?.length ?? 0
    this.#bytes.delete(key)
  }
}

const keyOf = (tenant: TenantId, digest: string): string => `${tenant} ${digest}`

const digestsIn = (events: readonly EventDraft[]): readonly string[] =>
  events.flatMap(({ refs = [] }) => refs.flatMap((ref) => blobDigestOf(ref) ?? []))

export const freshBlobs = enginePart(() => new FreshBlobs())
