// Vectors as integers: int8 for rows, int16 for the query, with a bound for what the rounding loses.

import type { QuantisedRows } from '../../ports/vector-matrix.ts'

const ROW_CODES = 127
const QUERY_CODES = 32_767

export const SCALES = 4

/** Bytes of a row in memory: its codes, padded for SIMD, and its scales. */
export const rowBytes = (dimensions: number): number => Math.ceil(dimensions / 32) * 32 + SCALES * 8

/** Quantises vectors for these slots. */
export function quantiseRows(slots: readonly number[], vectors: readonly Float32Array[], dimensions: number): QuantisedRows {
  const codes = new Int8Array(vectors.length * dimensions)
  const scales = new Float64Array(vectors.length * SCALES)
  vectors.forEach((vector, row) => {
    quantiseRow(vector, codes, row * dimensions, scales, row * SCALES)
  })
  return { slots: Uint32Array.from(slots), codes, scales }
}

function quantiseRow(vector: Float32Array, codes: Int8Array, at: number, scales: Float64Array, scale: number): void {
  let most = 0
  for (let i = 0; i < vector.length; i++) most = Math.max(most, Math.abs(vector[i] as number))
  const step = most / ROW_CODES
  let [lost, kept, whole] = [0, 0, 0]
  for (let i = 0; i < vector.length; i++) {
    const x = vector[i] as number
    const code = step === 0 ? 0 : Math.round(x / step)
    codes[at + i] = code
    const near = step * code
    lost += (x - near) * (x - near)
    kept += near * near
    whole += x * x
  }
  scales[scale] = step
  scales[scale + 1] = Math.sqrt(lost)
  scales[scale + 2] = Math.sqrt(kept)
  scales[scale + 3] = Math.sqrt(whole)
}

export interface QuantisedQuery {
  readonly codes: Int16Array
  readonly step: number
  /** |q − step·codes| */
  readonly lost: number
  readonly norm: number
}

/** The codes are as large as a sum of products in 32 bits allows. `length` pads them with zeros. */
export function quantiseQuery(vector: Float32Array, length: number): QuantisedQuery {
  let most = 0
  for (let i = 0; i < vector.length; i++) most = Math.max(most, Math.abs(vector[i] as number))
  const step = most / Math.min(QUERY_CODES, Math.floor((2 ** 31 - 1) / (ROW_CODES * vector.length)))
  const codes = new Int16Array(length)
  let [lost, whole] = [0, 0]
  for (let i = 0; i < vector.length; i++) {
    const q = vector[i] as number
    const code = step === 0 ? 0 : Math.round(q / step)
    codes[i] = code
    lost += (q - step * code) ** 2
    whole += q * q
  }
  return { codes, step, lost: Math.sqrt(lost), norm: Math.sqrt(whole) }
}
