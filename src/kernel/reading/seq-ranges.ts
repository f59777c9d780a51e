// A set of seqs kept as ranges, so that a million neighbours cost as much as one.

import { assert } from '../../model/errors.ts'

export class SeqRanges {
  // The ranges are in order and never touch each other.
  readonly #ranges: [number, number][] = []

  /** Adds a seq. Callers add seqs in growing order. */
  add(seq: number): void {
    const last = this.#ranges.at(-1)
    assert(!last || seq > last[1], 'seqs are added in order')
    if (last && last[1] === seq - 1) last[1] = seq
    else this.#ranges.push([seq, seq])
  }

  /** Removes the seqs of a range and returns how many there were. */
  remove(from: number, to: number): number {
    let removed = 0
    for (let i = this.#firstTouching(from); i < this.#ranges.length; ) {
      const [a, b] = this.#ranges[i] as [number, number]
      if (a > to) break
      const left: [number, number][] = []
      if (a < from) left.push([a, from - 1])
      if (b > to) left.push([to + 1, b])
      removed += Math.min(b, to) - Math.max(a, from) + 1
      this.#ranges.splice(i, 1, ...left)
      i += left.length
    }
    return removed
  }

  ranges(): readonly (readonly [number, number])[] {
    return this.#ranges
  }

  #firstTouching(from: number): number {
    let low = 0
    let high = this.#ranges.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#ranges[middle] as [number, number])[1] < from) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Sorted seqs as inclusive ranges. */
export function toRanges(seqs: readonly number[]): readonly (readonly [number, number])[] {
  const set = new SeqRanges()
  for (const seq of seqs) set.add(seq)
  return set.ranges()
}
