// Exact search in two passes. Integer products with every row give a score and a bound of its error (Cauchy–Schwarz). A document whose upper bound
// stays below the k-th best lower bound cannot be among the nearest; the others are scored again in float64.

import type { Candidates, MatrixQuery, QuantisedRows, VectorMatrix } from '../../ports/vector-matrix.ts'
import { Largest } from './largest.ts'
import { quantiseQuery, SCALES } from './quantise.ts'

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

/** Documents of a part of the rows, with what is needed to compare them with those of another part. */
export interface Survivors {
  /** Slots of all documents that can be among the `top` nearest of this part. */
  readonly slots: Uint32Array
  /** The upper bounds of their scores. */
  readonly uppers: Float64Array
  /** The `top` largest lower bounds of all documents of this part, or all if there are fewer. */
  readonly lowers: Float64Array
  /** Documents that passed the filter. */
  readonly examined: number
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

  async candidates(query: MatrixQuery): Promise<Candidates> {
    const { slots, examined } = this.survivors(query)
    return { slots, examined }
  }

  /**
   * The documents that can be among the nearest of this matrix, with their bounds. Euclidean scores are minus the squared distance, which has the
   * same order. The loop takes as long as the products, so most rows leave it after one comparison.
   */
  survivors({ vector, metric, top, passing }: MatrixQuery): Survivors {
    const query = quantiseQuery(vector, this.#rows.stride)
    const products = this.#rows.products(query.codes, this.#used)
    const [live, scales, best] = [this.#live, this.#scales, new Largest(top)]
    const slots: number[] = []
    const uppers: number[] = []
    let least = best.least()
    let examined = 0
    for (let slot = 0, at = 0; slot < this.#used; slot++, at += SCALES) {
      if (live[slot] === 0 || (passing && passing[slot] !== 1)) continue
      examined++
      const norm = scales[at + 3] as number
      const lengths = norm * query.norm
      const lost = (scales[at + 1] as number) * query.norm + (scales[at + 2] as number) * query.lost
      let score = (scales[at] as number) * query.step * (products[slot] as number)
      let error = lost * WIDER + ROUNDED * lengths
      if (metric === 'cosine') {
        const one = 1 / lengths
        score *= one
        error = error * one + 4 * ROUNDED
      } else if (metric === 'euclidean') {
        const squares = norm * norm + query.norm * query.norm
        score = 2 * score - squares
        error = 2 * error + 10 * ROUNDED * squares
      }
      // The threshold only grows: a document below it now stays below it.
      if (!(score + error >= least)) continue
      slots.push(slot)
      uppers.push(score + error)
      best.offer(score - error)
      least = best.least()
    }
    const kept = [...slots.keys()].filter((i) => (uppers[i] as number) >= least)
    return {
      slots: Uint32Array.from(kept, (i) => slots[i] as number),
      uppers: Float64Array.from(kept, (i) => uppers[i] as number),
      lowers: best.all(),
      examined,
    }
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
