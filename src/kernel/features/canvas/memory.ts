// Documents of canvases that this process has read or written lately, in stretches of consecutive versions. Versions never change, so a
// document in memory is right unless a payload was erased. Neighbouring documents share what they have in common.

import type { CanvasRow } from '../../../model/canvas.ts'
import type { TenantId } from '../../../model/ids.ts'
import type { PatchOperation } from '../../../model/json-patch.ts'
import { limits } from '../../../model/limits.ts'
import { enginePart } from '../../wiring/per-engine.ts'

/** Consecutive versions. `documents[i]` is version `first + i`, and `patches[i]` leads from it to the next one. */
export interface Stretch {
  readonly first: number
  readonly documents: readonly unknown[]
  readonly patches: readonly (readonly PatchOperation[])[]
  /** The seq of the event that made its last version. */
  readonly through: number
  readonly bytes: number
}

export const lastOf = ({ first, patches }: Stretch): number => first + patches.length

export const documentIn = ({ first, documents }: Stretch, version: number): unknown => documents[version - first]

interface Known {
  readonly erased: number
  stretches: readonly Stretch[]
}

export class CanvasMemory {
  /** In the order of use, oldest first. */
  readonly #known = new Map<string, Known>()
  #bytes = 0

  /** The stretch that begins at `first` or before and contains a version, or the one that ends closest before it. */
  find(tenant: TenantId, row: CanvasRow, version: number, first = version): Stretch | undefined {
    let best: Stretch | undefined
    for (const one of this.#of(tenant, row).stretches)
      if (one.first <= first && (!best || Math.min(lastOf(one), version) > lastOf(best))) best = one
    return best
  }

  /** Replaces the stretch that it continues, if there is one. */
  keep(tenant: TenantId, row: CanvasRow, stretch: Stretch): void {
    const known = this.#of(tenant, row)
    const others = known.stretches.filter(({ first }) => first !== stretch.first)
    this.#bytes -= sizeOf(known.stretches)
    known.stretches = [...others, stretch]
    this.#bytes += sizeOf(known.stretches)
    // The newest use is the last to go, and a canvas that is too large alone is not kept.
    for (const [key, { stretches }] of this.#known) {
      if (this.#bytes <= limits.canvasCacheBytes) break
      this.#known.delete(key)
      this.#bytes -= sizeOf(stretches)
    }
  }

  clear(): void {
    this.#known.clear()
    this.#bytes = 0
  }

  #of(tenant: TenantId, { id, erased = 0 }: CanvasRow): Known {
    const key = `${tenant}/${id}`
    const before = this.#known.get(key)
    if (before) this.#known.delete(key)
    if (before && before.erased !== erased) this.#bytes -= sizeOf(before.stretches)
    const known = before?.erased === erased ? before : { erased, stretches: [] }
    this.#known.set(key, known)
    return known
  }
}

const sizeOf = (stretches: readonly Stretch[]): number => stretches.reduce((sum, { bytes }) => sum + bytes, 0)

export const memoryOf = enginePart(() => new CanvasMemory())
