// The thread that holds matrices of vectors and finds candidates with SIMD WebAssembly.

import { parentPort } from 'node:worker_threads'
import { Int8Matrix } from './kernel/vectors/int8-matrix.ts'
import type { Candidates, MatrixQuery, QuantisedRows } from './ports/vector-matrix.ts'
import { WasmRows } from './wasm-rows.ts'

export type MatrixOrder =
  | { readonly do: 'create'; readonly matrix: number; readonly dimensions: number }
  | { readonly do: 'put'; readonly matrix: number; readonly rows: QuantisedRows }
  | { readonly do: 'remove'; readonly matrix: number; readonly slots: Uint32Array }
  | { readonly do: 'find'; readonly matrix: number; readonly n: number; readonly query: MatrixQuery }
  | { readonly do: 'close'; readonly matrix: number }

export type MatrixAnswer =
  | { readonly n: number; readonly found: Candidates }
  /** The matrix is lost, with everything that was put into it. */
  | { readonly matrix: number; readonly failed: string }

const matrices = new Map<number, Int8Matrix>()

async function obey(order: MatrixOrder): Promise<void> {
  if (order.do === 'create') return void matrices.set(order.matrix, new Int8Matrix(order.dimensions, new WasmRows(order.dimensions)))
  if (order.do === 'close') return void matrices.delete(order.matrix)
  const matrix = matrices.get(order.matrix)
  if (!matrix) return
  if (order.do === 'put') matrix.put(order.rows)
  else if (order.do === 'remove') matrix.remove(order.slots)
  else parentPort?.postMessage({ n: order.n, found: await matrix.candidates(order.query) } satisfies MatrixAnswer)
}

parentPort?.on('message', (order: MatrixOrder) => {
  obey(order).catch((error) => {
    matrices.delete(order.matrix)
    parentPort?.postMessage({ matrix: order.matrix, failed: String(error?.message ?? error) } satisfies MatrixAnswer)
  })
})
