// A set of refs by their first eight bytes, in flat arrays: a million refs take 16 MB. Two refs with the same first bytes count as one, so
// a garbage collection may keep a node too many, and never removes one too many.

export class PrefixSet {
  #slots = new Uint32Array(2 * 4096)
  #size = 0

  get size(): number {
    return this.#size
  }

  has(ref: Uint8Array): boolean {
    const [high, low] = halves(ref)
    const at = find(this.#slots, high, low)
    return this.#slots[at] !== 0 || this.#slots[at + 1] !== 0
  }

  /** False if it was there. */
  add(ref: Uint8Array): boolean {
    const [high, low] = halves(ref)
    const at = find(this.#slots, high, low)
    if (this.#slots[at] !== 0 || this.#slots[at + 1] !== 0) return false
    this.#slots[at] = high
    this.#slots[at + 1] = low
    this.#size++
    if (this.#size * 2 > this.#slots.length / 2) this.#grow()
    return true
  }

  #grow(): void {
    const larger = new Uint32Array(this.#slots.length * 2)
    for (let i = 0; i < this.#slots.length; i += 2) {
      const [high, low] = [this.#slots[i] as number, this.#slots[i + 1] as number]
      if (high === 0 && low === 0) continue
      const at = find(larger, high, low)
      larger[at] = high
      larger[at + 1] = low
    }
    this.#slots = larger
  }
}

/** Zero marks an empty slot, so it stands for one. */
function halves(ref: Uint8Array): readonly [high: number, low: number] {
  const high = ((ref[0] as number) << 24) | ((ref[1] as number) << 16) | ((ref[2] as number) << 8) | (ref[3] as number)
  const low = ((ref[4] as number) << 24) | ((ref[5] as number) << 16) | ((ref[6] as number) << 8) | (ref[7] as number)
  return high === 0 && low === 0 ? [0, 1] : [high >>> 0, low >>> 0]
}

/** The slot of these halves, or the empty one where they belong. Refs are digests, so their bytes are already spread. */
function find(slots: Uint32Array, high: number, low: number): number {
  const mask = slots.length / 2 - 1
  for (let i = low & mask; ; i = (i + 1) & mask) {
    const [h, l] = [slots[2 * i], slots[2 * i + 1]]
    if ((h === 0 && l === 0) || (h === high && l === low)) return 2 * i
  }
}
