// A set of refs by their first sixteen bytes, in flat arrays: a million refs take 32 MB. Two refs with the same first bytes count as one, so
// the parts below one of them would not be marked. Eight bytes would let somebody who chooses content find such a pair in hours.

/** 32-bit words of a ref that are kept. */
const WORDS = 4

export class PrefixSet {
  #slots = new Uint32Array(WORDS * 4096)
  #size = 0

  get size(): number {
    return this.#size
  }

  has(ref: Uint8Array): boolean {
    return !isEmpty(this.#slots, find(this.#slots, wordsOf(ref)))
  }

  /** False if it was there. */
  add(ref: Uint8Array): boolean {
    const words = wordsOf(ref)
    const at = find(this.#slots, words)
    if (!isEmpty(this.#slots, at)) return false
    this.#slots.set(words, at)
    this.#size++
    if (this.#size * 2 > this.#slots.length / WORDS) this.#grow()
    return true
  }

  #grow(): void {
    const larger = new Uint32Array(this.#slots.length * 2)
    for (let i = 0; i < this.#slots.length; i += WORDS) {
      if (isEmpty(this.#slots, i)) continue
      const words = this.#slots.subarray(i, i + WORDS)
      larger.set(words, find(larger, words))
    }
    this.#slots = larger
  }
}

/** Zeros mark an empty slot, so they stand for one. */
function wordsOf(ref: Uint8Array): Uint32Array {
  const words = new Uint32Array(WORDS)
  for (let i = 0; i < 4 * WORDS; i++) words[i >> 2] = ((words[i >> 2] as number) << 8) | (ref[i] as number)
  if (isEmpty(words, 0)) words[WORDS - 1] = 1
  return words
}

function isEmpty(slots: Uint32Array, at: number): boolean {
  for (let i = 0; i < WORDS; i++) if (slots[at + i] !== 0) return false
  return true
}

/** The slot of these words, or the empty one where they belong. Refs are digests, so their bytes are already spread. */
function find(slots: Uint32Array, words: Uint32Array): number {
  const mask = slots.length / WORDS - 1
  for (let i = (words[WORDS - 1] as number) & mask; ; i = (i + 1) & mask) {
    const at = WORDS * i
    let same = 0
    while (same < WORDS && slots[at + same] === words[same]) same++
    if (same === WORDS || isEmpty(slots, at)) return at
  }
}
