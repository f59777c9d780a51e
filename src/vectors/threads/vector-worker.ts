// A thread that holds matrices of vectors, each of them a shard, and finds candidates with SIMD WebAssembly.

import { parentPort } from 'node:worker_threads'
import type { MatrixQuery, QuantisedRows } from '../../ports/vector-matrix.ts'
import { Int8Matrix, type Survivors } from '../math/int8-matrix.ts'
import { WasmRows } from './wasm-rows.ts'

export type MatrixOrder =
  | { readonly do: 'create'; readonly matrix: number; readonly dimensions: number }
  | { readonly do: 'put'; readonly matrix: number; readonly rows: QuantisedRows }
  | { readonly do: 'remove'; readonly matrix: number; readonly slots: Uint32Array }
  | { readonly do: 'find'; readonly matrix: number; readonly n: number; readonly query: MatrixQuery }
  | { readonly do: 'close'; readonly matrix: number }

export type MatrixAnswer =
  | { readonly n: number; readonly found: Survivors }
  /** The matrix is lost, with everything that was put into it. */
  | { readonly matrix: number; readonly failed: string }

const matrices = new Map<number, Int8Matrix>()

function obey(order: MatrixOrder): void {
  if (order.do === 'create') return void matrices.set(order.matrix, new Int8Matrix(order.dimensions, new WasmRows(order.dimensions)))
  if (order.do === 'close') return void matrices.delete(order.matrix)
  const matrix = matrices.get(order.matrix)
  if (!matrix) return
  if (order.do === 'put') matrix.put(order.rows)
  else if (order.do === 'remove') matrix.remove(order.slots)
  else parentPort?.postMessage({ n: order.n, found: matrix.survivors(order.query) } satisfies MatrixAnswer)
}

parentPort?.on('message', (order: MatrixOrder) => {
  try {
    obey(order)
  } catch (error) {
    matrices.delete(order.matrix)
    parentPort?.postMessage({ matrix: order.matrix, failed: error instanceof Error ? error.message : String(error) } satisfies MatrixAnswer)
  }
})
