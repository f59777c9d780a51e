// Rows of codes in the memory of a WebAssembly instance, multiplied by SIMD instructions.

import type { CodeRows } from '../math/int8-matrix.ts'
import { VECTOR_DOTS } from './vector-dots.ts'

const STEP = 32
const PAGE = 65_536

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number }
  dots(codes: number, stride: number, rows: number, query: number, out: number): void
}

// The part of the global that is used here. Its types come with those of browsers only.
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: object }
}

const compiled = new WebAssembly.Module(Buffer.from(VECTOR_DOTS, 'base64'))

/** Rows in the memory of a WebAssembly instance: first the query, then the codes, then the products. */
export class WasmRows implements CodeRows {
  readonly stride: number
  readonly #wasm: Exports
  readonly #query = 1024
  readonly #codes: number
  #rows = 0

  constructor(dimensions: number) {
    this.stride = Math.ceil(dimensions / STEP) * STEP
    this.#wasm = new WebAssembly.Instance(compiled, {}).exports as Exports
    this.#codes = this.#query + 2 * this.stride
  }

  codes(): Int8Array {
    return new Int8Array(this.#wasm.memory.buffer, this.#codes, this.#rows * this.stride)
  }

  // Padding is zero: memory grows with zeros, and codes are only written before it. The products stood where new rows begin.
  reserve(rows: number): void {
    const { memory } = this.#wasm
    const missing = this.#codes + rows * (this.stride + 4) - memory.buffer.byteLength
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE))
    new Int8Array(memory.buffer).fill(0, this.#codes + this.#rows * this.stride)
    this.#rows = rows
  }

  products(query: Int16Array, rows: number): Int32Array {
    const { memory, dots } = this.#wasm
    const out = this.#codes + this.#rows * this.stride
    new Int16Array(memory.buffer, this.#query, this.stride).set(query)
    dots(this.#codes, this.stride, rows, this.#query, out)
    return new Int32Array(memory.buffer, out, rows)
  }
}
