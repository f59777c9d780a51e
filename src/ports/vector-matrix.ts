// A matrix of int8 codes in memory, which finds the documents that may be among the nearest. Another implementation may use other instructions or
// other threads, and spread the rows over several of them; its answers are the same.

import type { Metric } from '../model/vector.ts'

/** Rows as codes. A vector `x` is about `step · codes`; the scales bound the difference. */
export interface QuantisedRows {
  /** The slot of each row. A row replaces the one in its slot. */
  readonly slots: Uint32Array
  /** `dimensions` codes per row. */
  readonly codes: Int8Array
  /** Four numbers per row: step, |x − step·codes|, |step·codes|, |x|. */
  readonly scales: Float64Array
}

export interface MatrixQuery {
  readonly vector: Float32Array
  readonly metric: Metric
  readonly top: number
  /** One byte per slot: 1 if the document passes the filter. Absent: all pass. */
  readonly passing?: Uint8Array | undefined
}

export interface Candidates {
  /** Slots of all documents that can be among the `top` nearest, in any order. */
  readonly slots: Uint32Array
  /** Documents that passed the filter. */
  readonly examined: number
}

export interface VectorMatrix {
  put(rows: QuantisedRows): void
  remove(slots: Uint32Array): void
  /** Answers for everything that was put and removed before. Rejects if the matrix is lost, or a part of it. */
  candidates(query: MatrixQuery): Promise<Candidates>
  close(): void
}

/** Makes matrices, for example in worker threads. */
export interface VectorMatrices {
  create(dimensions: number): VectorMatrix
  close(): Promise<void>
}
