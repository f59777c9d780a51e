// Modules that this process has read lately, so that a program that loads one again does not read its bytes. The pointer is read each time:
// a module whose pointer was erased is not answered from memory.

import type { TenantId } from '../../../model/ids.ts'
import { enginePart } from '../../wiring/per-engine.ts'

/** Bytes of modules that one store keeps in memory. */
const MOST_BYTES = 16 * 1024 * 1024

export class ModuleCache {
  /** In the order of use, oldest first. */
  readonly #modules = new Map<string, Uint8Array>()
  #bytes = 0

  /** The caller gets a copy that it may change. */
  get(tenant: TenantId, digest: string): Uint8Array | undefined {
    const key = `${tenant} ${digest}`
    const found = this.#modules.get(key)
    if (!found) return undefined
    this.#modules.delete(key)
    this.#modules.set(key, found)
    return found.slice()
  }

  keep(tenant: TenantId, digest: string, bytes: Uint8Array): void {
    const key = `${tenant} ${digest}`
    if (bytes.length > MOST_BYTES || this.#modules.has(key)) return
    this.#modules.set(key, bytes.slice())
    this.#bytes += bytes.length
    for (const [oldest, { length }] of this.#modules) {
      if (this.#bytes <= MOST_BYTES) return
      this.#modules.delete(oldest)
      this.#bytes -= length
    }
  }
}

export const modulesOf = enginePart(() => new ModuleCache())
