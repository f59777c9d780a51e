// Shards of matrices in a worker thread. The thread starts with the first shard and ends with the store.

import { Worker } from 'node:worker_threads'
import type { Survivors } from '../math/int8-matrix.ts'
import type { MatrixShard } from '../math/sharded-matrix.ts'
import type { MatrixAnswer, MatrixOrder } from './vector-worker.ts'

interface Asked {
  readonly matrix: number
  readonly resolve: (found: Survivors) => void
  readonly reject: (error: Error) => void
}

export interface VectorThread {
  create(dimensions: number): MatrixShard
  close(): Promise<void>
}

/** In the package the code itself, as a text (scripts/build.ts). */
const CODE: URL | string = new URL('./vector-worker.ts', import.meta.url)

export function vectorThread(): VectorThread {
  let worker: Worker | undefined
  let last = 0
  const asked = new Map<number, Asked>()
  /** Matrices that the present thread holds. */
  const held = new Set<number>()

  const settle = (n: number, how: (one: Asked) => void): void => {
    const one = asked.get(n)
    asked.delete(n)
    if (asked.size === 0) worker?.unref()
    if (one) how(one)
  }
  const lose = (matrix: number, why: string): void => {
    held.delete(matrix)
    for (const [n, one] of asked) if (one.matrix === matrix) settle(n, ({ reject }) => reject(new Error(why)))
  }
  const end = (why: string): void => {
    worker = undefined
    held.clear()
    // Also those of a matrix that was closed while it was asked.
    for (const n of [...asked.keys()]) settle(n, ({ reject }) => reject(new Error(why)))
  }
  const started = (): Worker => {
    if (worker) return worker
    const made = new Worker(CODE, { eval: typeof CODE === 'string', execArgv: [] })
    made.on('message', (answer: MatrixAnswer) => {
      if ('n' in answer) settle(answer.n, ({ resolve }) => resolve(answer.found))
      else lose(answer.matrix, answer.failed)
    })
    made.on('error', (error) => worker === made && end(error.message))
    made.on('exit', () => worker === made && end('the thread of vectors ended'))
    made.unref()
    worker = made
    return made
  }

  return {
    create: (dimensions) => {
      const matrix = ++last
      held.add(matrix)
      const send = (order: MatrixOrder, moved: readonly ArrayBuffer[] = []): void => {
        if (held.has(matrix)) started().postMessage(order, moved)
      }
      send({ do: 'create', matrix, dimensions })
      return {
        put: (rows) => send({ do: 'put', matrix, rows }, [rows.codes.buffer as ArrayBuffer, rows.scales.buffer as ArrayBuffer]),
        remove: (slots) => send({ do: 'remove', matrix, slots }),
        survivors: (query) =>
          new Promise((resolve, reject) => {
            if (!held.has(matrix)) return reject(new Error('the matrix is lost'))
            const n = ++last
            asked.set(n, { matrix, resolve, reject })
            started().ref()
            send({ do: 'find', matrix, n, query })
          }),
        close: () => {
          send({ do: 'close', matrix })
          held.delete(matrix)
        },
      }
    },
    close: async () => {
      const thread = worker
      end('the store is closed')
      await thread?.terminate()
    },
  }
}
