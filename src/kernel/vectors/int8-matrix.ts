// Exact search in two passes. Integer products with every row give a score and a bound of its error (Cauchy–Schwarz). A document whose upper bound
// stays below the k-th best lower bound cannot be among the nearest; the others are scored again in float64.

import type { Candidates, MatrixQuery, QuantisedRows, VectorMatrix } from '../../ports/vector-matrix.ts'
import { type QuantisedQuery, quantiseQuery, SCALES } from './quantise.ts'

/** Keeps codes, each row padded to a stride, and multiplies all rows with a query. */
export interface CodeRows {
  /** The length of a row. */
  readonly stride: number
  /** The codes of all rows; another array after `reserve`. */
  codes(): Int8Array
  reserve(rows: number): void
  /** The products of the first `rows` rows with the query. Valid until the next call. */
  products(query: Int16Array, rows: number): Int32Array
}

// Rounding in float64: of the bound itself, and of sums of up to 4,096 products.
const WIDER = 1 + 1e-6
const ROUNDED = 1e-12

export class Int8Matrix implements VectorMatrix {
  readonly #dimensions: number
  readonly #rows: CodeRows
  #scales = new Float64Array(0)
  #live = new Uint8Array(0)
  #used = 0

  constructor(dimensions: number, rows: CodeRows = new PlainRows(dimensions)) {
    this.#dimensions = dimensions
    this.#rows = rows
  }

  put({ slots, codes, scales }: QuantisedRows): void {
    let most = this.#used
    for (const slot of slots) most = Math.max(most, slot + 1)
    this.#reserve(most)
    const all = this.#rows.codes()
    slots.forEach((slot, i) => {
      all.set(codes.subarray(i * this.#dimensions, (i + 1) * this.#dimensions), slot * this.#rows.stride)
      this.#scales.set(scales.subarray(i * SCALES, (i + 1) * SCALES), slot * SCALES)
      this.#live[slot] = 1
    })
    this.#used = most
  }

  remove(slots: Uint32Array): void {
    for (const slot of slots) this.#live[slot] = 0
  }

  async candidates({ vector, metric, top, passing }: MatrixQuery): Promise<Candidates> {
    const query = quantiseQuery(vector, this.#rows.stride)
    const products = this.#rows.products(query.codes, this.#used)
    const uppers = new Float64Array(this.#used)
    const best = new Largest(top)
    const bound = BOUNDS[metric]
    let examined = 0
    for (let slot = 0; slot < this.#used; slot++) {
      if (this.#live[slot] === 0 || (passing && passing[slot] !== 1)) {
        uppers[slot] = Number.NaN
        continue
      }
      examined++
      uppers[slot] = bound(query, products[slot] as number, this.#scales, slot * SCALES)
      best.offer(lower)
    }
    const least = best.least()
    const slots: number[] = []
    // The comparison with NaN is false, so documents that did not pass are left out.
    for (let slot = 0; slot < this.#used; slot++) if ((uppers[slot] as number) >= least) slots.push(slot)
    return { slots: Uint32Array.from(slots), examined }
  }

  /** All rows, to be put into another matrix. */
  all(): QuantisedRows {
    const slots: number[] = []
    for (let slot = 0; slot < this.#used; slot++) if (this.#live[slot] === 1) slots.push(slot)
    const { stride } = this.#rows
    const from = this.#rows.codes()
    const codes = new Int8Array(slots.length * this.#dimensions)
    const scales = new Float64Array(slots.length * SCALES)
    slots.forEach((slot, i) => {
      codes.set(from.subarray(slot * stride, slot * stride + this.#dimensions), i * this.#dimensions)
      scales.set(this.#scales.subarray(slot * SCALES, (slot + 1) * SCALES), i * SCALES)
    })
    return { slots: Uint32Array.from(slots), codes, scales }
  }

  close(): void {}

  #reserve(rows: number): void {
    if (rows <= this.#live.length) return
    const room = Math.max(rows, Math.ceil(this.#live.length * 1.5), 64)
    this.#rows.reserve(room)
    this.#scales = grown(this.#scales, new Float64Array(room * SCALES))
    this.#live = grown(this.#live, new Uint8Array(room))
  }
}

function grown<T extends Float64Array | Uint8Array | Int8Array>(from: T, to: T): T {
  to.set(from)
  return to
}

// The second result of a bound. A pair for each of a hundred thousand rows would cost more than the products.
let lower = 0

type Bound = (query: QuantisedQuery, product: number, scales: Float64Array, at: number) => number

function dotBound(query: QuantisedQuery, product: number, scales: Float64Array, at: number): number {
  const score = (scales[at] as number) * query.step * product
  const error = errorOf(query, scales, at)
  lower = score - error
  return score + error
}

function errorOf(query: QuantisedQuery, scales: Float64Array, at: number): number {
  const lost = (scales[at + 1] as number) * query.norm + (scales[at + 2] as number) * query.lost
  return lost * WIDER + ROUNDED * (scales[at + 3] as number) * query.norm
}

/** Each returns the upper bound of a row's score and sets `lower`. Euclidean scores are minus the squared distance, which has the same order. */
const BOUNDS: Readonly<Record<MatrixQuery['metric'], Bound>> = {
  dot: dotBound,
  cosine: (query, product, scales, at) => {
    const upper = dotBound(query, product, scales, at)
    const lengths = (scales[at + 3] as number) * query.norm
    lower = lower / lengths - 4 * ROUNDED
    return upper / lengths + 4 * ROUNDED
  },
  euclidean: (query, product, scales, at) => {
    const score = (scales[at] as number) * query.step * product
    const squares = (scales[at + 3] as number) ** 2 + query.norm ** 2
    const error = 2 * errorOf(query, scales, at) + 10 * ROUNDED * squares
    lower = 2 * score - squares - error
    return 2 * score - squares + error
  },
}

/** The largest numbers offered, in a heap whose root is the least of them. */
class Largest {
  readonly #heap: Float64Array
  #size = 0

  constructor(count: number) {
    this.#heap = new Float64Array(count)
  }

  /** Minus infinity while fewer were offered than asked for. */
  least(): number {
    return this.#size < this.#heap.length ? Number.NEGATIVE_INFINITY : (this.#heap[0] as number)
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

/** Rows in an array, multiplied by plain JavaScript. */
class PlainRows implements CodeRows {
  readonly stride: number
  #codes = new Int8Array(0)
  #products = new Int32Array(0)

  constructor(dimensions: number) {
    this.stride = dimensions
  }

  codes(): Int8Array {
    return this.#codes
  }

  reserve(rows: number): void {
    this.#codes = grown(this.#codes, new Int8Array(rows * this.stride))
    this.#products = new Int32Array(rows)
  }

  products(query: Int16Array, rows: number): Int32Array {
    for (let row = 0, at = 0; row < rows; row++) {
      let sum = 0
      for (let i = 0; i < this.stride; i++) sum += (this.#codes[at++] as number) * (query[i] as number)
      this.#products[row] = sum
    }
    return this.#products
  }
}
