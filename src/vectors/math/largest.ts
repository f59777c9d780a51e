// The largest of many numbers. Their least is the threshold of a search: a document below it is not among the nearest.

/** The largest numbers offered, in a heap whose root is the least of them. */
export class Largest {
  readonly #heap: Float64Array
  #size = 0

  constructor(count: number) {
    this.#heap = new Float64Array(count)
  }

  /** Minus infinity while fewer were offered than asked for. */
  least(): number {
    return this.#size < this.#heap.length ? Number.NEGATIVE_INFINITY : (this.#heap[0] as number)
  }

  /** All of them, in no particular order. */
  all(): Float64Array {
    return this.#heap.slice(0, this.#size)
  }

  offer(value: number): void {
    const heap = this.#heap
    if (this.#size < heap.length) {
      let at = this.#size++
      for (; at > 0 && (heap[(at - 1) >> 1] as number) > value; at = (at - 1) >> 1) heap[at] = heap[(at - 1) >> 1] as number
      heap[at] = value
      return
    }
    if (value <= (heap[0] as number)) return
    let at = 0
    for (let child = 1; child < this.#size; child = 2 * at + 1) {
      if (child + 1 < this.#size && (heap[child + 1] as number) < (heap[child] as number)) child++
      if ((heap[child] as number) >= value) break
      heap[at] = heap[child] as number
      at = child
    }
    heap[at] = value
  }
}
