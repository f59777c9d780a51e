// One matrix whose rows are spread over several shards, each of which searches its own. The merger knows the bounds of all shards, so it keeps the
// documents that one matrix would keep.

import type { Candidates, MatrixQuery, QuantisedRows, VectorMatrix } from '../../ports/vector-matrix.ts'
import type { Survivors } from './int8-matrix.ts'
import { Largest } from './largest.ts'
import { rowBytes, SCALES } from './quantise.ts'

/** Rows of a matrix under slots of their own, for example in a worker thread. */
export interface MatrixShard {
  put(rows: QuantisedRows): void
  remove(slots: Uint32Array): void
  /** Answers for everything that was put and removed before. Rejects if the shard is lost. */
  survivors(query: MatrixQuery): Promise<Survivors>
  close(): void
}

/** Slots are dealt to shards in blocks of about so many bytes. One is searched in 0.1 ms, too little to share with a thread that takes 15 MiB. */
const BLOCK_BYTES = 2 ** 21

const blockRowsFor = (dimensions: number): number => Math.ceil(BLOCK_BYTES / rowBytes(dimensions))

/** Makes the matrix. A shard is started for its first row, so a small matrix has one. With one shard lost, the matrix is lost. */
export function shardedMatrix(
  dimensions: number,
  starts: readonly (() => MatrixShard)[],
  blockRows: number = blockRowsFor(dimensions),
): VectorMatrix {
  const shards: MatrixShard[] = []
  const layout = new Layout(starts.length, blockRows)
  let closed = false

  /** Blocks go round, so the first row of a shard comes after the first rows of those before it; a matrix may begin with any slot. */
  const shardAt = (at: number): MatrixShard => {
    while (shards.length <= at) shards.push((starts[shards.length] as () => MatrixShard)())
    return shards[at] as MatrixShard
  }

  return {
    put: ({ slots, codes, scales }) => {
      // A search that is under way when the store closes must not start a thread.
      if (closed) return
      for (const [shard, rows] of layout.deal(slots).entries()) {
        if (rows.length === 0) continue
        const part = {
          slots: new Uint32Array(rows.length),
          codes: new Int8Array(rows.length * dimensions),
          scales: new Float64Array(rows.length * SCALES),
        }
        for (const [i, row] of rows.entries()) {
          part.slots[i] = layout.localOf(slots[row] as number)
          part.codes.set(codes.subarray(row * dimensions, (row + 1) * dimensions), i * dimensions)
          part.scales.set(scales.subarray(row * SCALES, (row + 1) * SCALES), i * SCALES)
        }
        shardAt(shard).put(part)
      }
    },
    remove: (slots) => {
      for (const [shard, rows] of layout.deal(slots).entries())
        if (rows.length > 0) shards[shard]?.remove(Uint32Array.from(rows, (row) => layout.localOf(slots[row] as number)))
    },
    candidates: async (query) => {
      const passing = query.passing && layout.split(query.passing)
      const found = await Promise.all(shards.map((shard, i) => shard.survivors({ ...query, passing: passing?.[i] })))
      return merge(query.top, found, layout)
    },
    close: () => {
      closed = true
      for (const shard of shards) shard.close()
    },
  }
}

/** Keeps the survivors of all shards whose upper bound reaches the k-th best lower bound of all rows. */
function merge(top: number, found: readonly Survivors[], layout: Layout): Candidates {
  const best = new Largest(top)
  for (const { lowers } of found) for (const lower of lowers) best.offer(lower)
  const least = best.least()
  const slots: number[] = []
  let examined = 0
  for (const [shard, one] of found.entries()) {
    examined += one.examined
    for (const [i, local] of one.slots.entries()) if ((one.uppers[i] as number) >= least) slots.push(layout.globalOf(shard, local))
  }
  return { slots: Uint32Array.from(slots), examined }
}

/** Block b lies in shard b % shards, after the blocks that the shard already has. */
class Layout {
  readonly #shards: number
  readonly #rows: number

  constructor(shards: number, blockRows: number) {
    this.#shards = shards
    this.#rows = blockRows
  }

  localOf(slot: number): number {
    return Math.floor(slot / (this.#rows * this.#shards)) * this.#rows + (slot % this.#rows)
  }

  globalOf(shard: number, local: number): number {
    return (Math.floor(local / this.#rows) * this.#shards + shard) * this.#rows + (local % this.#rows)
  }

  /** The places in the list of each shard's slots. */
  deal(slots: Uint32Array): readonly (readonly number[])[] {
    const places: number[][] = Array.from({ length: this.#shards }, () => [])
    for (const [place, slot] of slots.entries()) places[Math.floor(slot / this.#rows) % this.#shards]?.push(place)
    return places
  }

  /** The bytes of each shard's slots. */
  split(passing: Uint8Array): readonly Uint8Array[] {
    const blocks = Math.ceil(passing.length / this.#rows)
    const parts = Array.from({ length: this.#shards }, () => new Uint8Array(Math.ceil(blocks / this.#shards) * this.#rows))
    for (let block = 0; block < blocks; block++) {
      const bytes = passing.subarray(block * this.#rows, (block + 1) * this.#rows)
      parts[block % this.#shards]?.set(bytes, Math.floor(block / this.#shards) * this.#rows)
    }
    return parts
  }
}
