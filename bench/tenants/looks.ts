// Looking for due work across all tenants: in a queue without items, and a page of a hundred due tenants. A node does both several times a second.

import { join } from 'node:path'
import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { sqliteBackend } from '../../src/backends/sqlite/backend.ts'
import { open } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { median, spread } from '../lib/stats.ts'
import { number } from '../lib/table.ts'
import { atMost, type Findings, type Measure, type Settings, type Workload } from '../lib/workload.ts'
import { startBenchServer } from '../postgres/server.ts'
import { DUE_NOW, fillDatabase, fillFile, QUEUE } from './fill.ts'

const SIZES = [1, 10_000, 1_000_000]
const QUICK_SIZES = [1, 10_000, 100_000]
const LOOKS = 50
const EMPTY_MOST_MS = 2
const PAGE_MOST_MS = 5

type Engine = 'SQLite' | 'PostgreSQL'

export const looks = (engine: Engine): Workload => ({
  name: `looks-${engine.toLowerCase()}`,
  title: `looking for due work across all tenants, ${engine}`,
  run: async (settings): Promise<Findings> => {
    await using server = engine === 'PostgreSQL' ? await startBenchServer() : undefined
    const measures: Measure[] = []
    for (const tenants of settings.quick ? QUICK_SIZES : SIZES) {
      settings.say(`filling a store with ${number(tenants)} tenants`)
      const backend = await (server ? onServer(await server.database(), tenants) : inFile(settings, tenants))
      measures.push(...(await measure(settings, backend, tenants)))
      await backend.close()
    }
    return { measures, notes: [...NOTES, ...(server ? [server.settings] : [])] }
  },
})

const NOTES = [
  `one item in each tenant, at most ${DUE_NOW} of them due and the others in the far future; written with SQL, through the triggers`,
  `the median of ${LOOKS} looks a round, from the call of the backend to its answer`,
]

async function onServer(url: string, tenants: number): Promise<Backend> {
  await (await open(url)).close()
  await fillDatabase(url, tenants)
  return postgresBackend({ url })
}

async function inFile({ folder }: Settings, tenants: number): Promise<Backend> {
  const path = join(folder, `${tenants}.db`)
  await (await open(path)).close()
  fillFile(path, tenants)
  return sqliteBackend({ path })
}

async function measure({ rounds }: Settings, backend: Backend, tenants: number): Promise<readonly Measure[]> {
  const look = async (queue: string): Promise<number> => {
    const took: number[] = []
    for (let n = 0; n < LOOKS; n++) {
      const since = performance.now()
      await backend.queries.due(queue, DUE_NOW)
      took.push(performance.now() - since)
    }
    return median(took)
  }
  const [empty, page]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    empty.push(await look('empty'))
    page.push(await look(QUEUE))
  }
  const [nothing, hundred] = [spread(empty), spread(page)]
  const heads = `${number(tenants)} ${tenants === 1 ? 'head' : 'heads'}`
  return [
    { what: `${heads}, nothing due`, unit: 'ms', ours: nothing, goal: atMost(EMPTY_MOST_MS, nothing, 'ms') },
    { what: `${heads}, a page of ${Math.min(DUE_NOW, tenants)}`, unit: 'ms', ours: hundred, goal: atMost(PAGE_MOST_MS, hundred, 'ms') },
  ]
}
