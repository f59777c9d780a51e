// A small English model in a worker thread, from the optional packages `@energetic-ai/*`. The core never loads them.

import { Worker } from 'node:worker_threads'
import { limits } from '../model/limits.ts'
import type { Embedder } from '../ports/embedder.ts'

export interface LocalAnswer {
  readonly n: number
  readonly vectors?: readonly (readonly number[])[]
  readonly failed?: string
}

/** In the package the code itself, as a text (scripts/build.ts). */
const CODE: URL | string = new URL('./local-embedder-worker.ts', import.meta.url)

const DIMENSIONS = 512
/** A text takes 10 to 25 ms; a batch leaves room for the next caller. */
const BATCH = 16

export function localEmbedder(): Embedder {
  const waiting = new Map<number, { readonly resolve: (vectors: unknown) => void; readonly reject: (error: Error) => void }>()
  let worker: Worker | undefined
  let last = 0

  const end = (why: string) => {
    worker = undefined
    for (const { reject } of waiting.values()) reject(new Error(why))
    waiting.clear()
  }

  // The thread starts with the first text, and again after it died.
  const started = (): Worker => {
    if (worker) return worker
    const made = new Worker(CODE, { eval: typeof CODE === 'string', execArgv: [], workerData: { from: import.meta.url } })
    made.on('message', ({ n, vectors, failed }: LocalAnswer) => {
      const asked = waiting.get(n)
      waiting.delete(n)
      if (waiting.size === 0) made.unref()
      if (failed === undefined) asked?.resolve(vectors)
      else asked?.reject(new Error(failed))
    })
    made.on('error', (error) => worker === made && end(error.message))
    made.on('exit', () => worker === made && end('the thread of the local model ended'))
    worker = made
    return made
  }

  return {
    id: 'energetic-ai/embeddings-en',
    version: '0.2',
    dimensions: DIMENSIONS,
    network: false,
    batch: BATCH,
    timeoutMs: limits.embedTimeoutMs,
    embed: (texts) =>
      new Promise((resolve, reject) => {
        const n = ++last
        waiting.set(n, { resolve, reject })
        const thread = started()
        thread.ref()
        thread.postMessage({ n, texts })
      }),
    close: async () => {
      const thread = worker
      end('the store is closed')
      await thread?.terminate()
    },
  }
}
