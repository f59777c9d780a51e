// Collections share a bound in memory. One that has to make room for another is read from the store, with the same results.

import { expect, test } from 'vitest'
import { memoryBackend } from '../../src/backends/memory/backend.ts'
import { nodeEnvironment } from '../../src/environment.ts'
import type { Logger, VectorCollection } from '../../src/index.ts'
import { createStore } from '../../src/kernel/store.ts'
import type { VectorMatrices, VectorMatrix } from '../../src/ports/vector-matrix.ts'
import { vectorThreads } from '../../src/vectors/threads/vector-threads.ts'
import { later } from '../support/engines.ts'

/** What is said about vectors, with its details. */
function listening() {
  const warnings: string[] = []
  const warn: Logger['warn'] = (message, details) => {
    if (message.includes('vectors')) warnings.push(`${message} ${JSON.stringify(details)}`)
  }
  return { warnings, logger: { ...nodeEnvironment.logger, warn } }
}

test('a search whose collection makes room for another one reads the store, and reports no failure', async () => {
  const { warnings, logger } = listening()
  const environment = { ...nodeEnvironment, matrices: vectorThreads(), logger }
  let hold: { readonly reached: () => void; readonly until: Promise<void> } | undefined
  const backend = memoryBackend(environment)
  const { journal } = backend
  const store = await createStore(
    {
      ...backend,
      journal: {
        ...journal,
        page: async (...query) => {
          const held = hold
          hold = undefined
          held?.reached()
          await held?.until
          return journal.page(...query)
        },
      },
    },
    environment,
    { vectorMemory: 300 * (2048 + 32) },
  )
  later(() => store.close())
  // Each is searched in a thread, and there is room for one.
  const [a, b] = ['a', 'b'].map((name) => store.vectors(name, { dimensions: 2048, metric: 'dot' })) as [VectorCollection, VectorCollection]
  const vector = (i: number) => Float32Array.from({ length: 2048 }, (_, j) => Math.sin(i * j + 1))
  for (const docs of [a, b]) await docs.upsert(Array.from({ length: 200 }, (_, i) => ({ id: `${i}`, vector: vector(i) })))
  expect((await a.search(vector(7), { top: 1 }))[0]?.id).toBe('7')
  // The index of a looks what was written since, and loses its room meanwhile.
  const [reached, until] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  hold = { reached: reached.resolve, until: until.promise }
  const searching = a.search(vector(7), { top: 1 })
  await reached.promise
  expect((await b.search(vector(8), { top: 1 }))[0]?.id).toBe('8')
  until.resolve()
  expect((await searching)[0]?.id).toBe('7')
  expect(warnings).toEqual([])
  // The next search has it in memory again.
  expect((await a.search(vector(9), { top: 1 }))[0]?.id).toBe('9')
  expect((await a.info()).search).toBe('memory')
})

test('collections that are read at the same time stay within the bound together', async () => {
  const sizes = new Map<VectorMatrix, Set<number>>()
  let most = 0
  const threads = vectorThreads()
  const matrices: VectorMatrices = {
    ...threads,
    create: (dimensions) => {
      const matrix = threads.create(dimensions)
      const counted: VectorMatrix = {
        ...matrix,
        put: (rows) => {
          for (const slot of rows.slots) sizes.get(counted)?.add(slot)
          most = Math.max(
            most,
            [...sizes.values()].reduce((sum, { size }) => sum + size, 0),
          )
          matrix.put(rows)
        },
        close: () => {
          sizes.delete(counted)
          matrix.close()
        },
      }
      sizes.set(counted, new Set())
      return counted
    },
  }
  const { warnings, logger } = listening()
  const environment = { ...nodeEnvironment, matrices, logger }
  // Room for one and a half of the collections. A page that does not fit is put before the collection is given up.
  const store = await createStore(memoryBackend(environment), environment, { vectorMemory: 1600 * (512 + 32) })
  later(() => store.close())
  const collections = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => store.vectors(name, { dimensions: 512, metric: 'dot' }))
  const vector = (i: number) => Float32Array.from({ length: 512 }, (_, j) => Math.sin(i * j + 1))
  const documents = Array.from({ length: 1100 }, (_, i) => ({ id: `${i}`, vector: vector(i) }))
  for (const docs of collections) await docs.upsert(documents)
  for (let round = 0; round < 3; round++)
    for (const hits of await Promise.all(collections.map((docs) => docs.search(vector(7), { top: 1 })))) expect(hits[0]?.id).toBe('7')
  expect(warnings).toEqual([])
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThanOrEqual(1600 + 500)
  expect([...sizes.values()].reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(1600)
})
