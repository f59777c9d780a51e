// Nodes that this process has read or written lately: bodies, so that they need not be read again, and names of nodes that exist, so that
// they need not be sent again. A commit guards every node it names, so a stale name costs a retry and nothing else.

import type { TenantId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { enginePart } from '../../wiring/per-engine.ts'
import { refKey } from './format.ts'

/** The cost of an entry beside its bytes. */
const ENTRY_BYTES = 128

export class NodeMemory {
  /** In the order of use, oldest first. */
  readonly #bodies = new Map<string, Uint8Array>()
  readonly #known = new Set<string>()
  #bytes = 0

  body(tenant: TenantId, ref: Uint8Array): Uint8Array | undefined {
    const key = keyOf(tenant, ref)
    const body = this.#bodies.get(key)
    if (body) {
      this.#bodies.delete(key)
      this.#bodies.set(key, body)
    }
    return body
  }

  keep(tenant: TenantId, ref: Uint8Array, body: Uint8Array): void {
    const key = keyOf(tenant, ref)
    this.#learn(key)
    if (this.#bodies.has(key)) return
    // A copy: the body may be a view of a larger buffer.
    this.#bodies.set(key, body.slice())
    this.#bytes += body.length + ENTRY_BYTES
    for (const [oldest, { length }] of this.#bodies) {
      if (this.#bytes <= limits.valueCacheBytes) break
      this.#bodies.delete(oldest)
      this.#bytes -= length + ENTRY_BYTES
    }
  }

  isKnown(tenant: TenantId, ref: Uint8Array): boolean {
    return this.#known.has(keyOf(tenant, ref))
  }

  learn(tenant: TenantId, ref: Uint8Array): void {
    this.#learn(keyOf(tenant, ref))
  }

  /** Forgets everything: some node that was known is gone. */
  clear(): void {
    this.#bodies.clear()
    this.#known.clear()
    this.#bytes = 0
  }

  #learn(key: string): void {
    if (this.#known.size >= limits.valueNodesKnown) this.#known.clear()
    this.#known.add(key)
  }
}

const keyOf = (tenant: TenantId, ref: Uint8Array): string => `${tenant} ${refKey(ref)}`

export const memoryOf = enginePart(() => new NodeMemory())
