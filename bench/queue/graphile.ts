// graphile-worker with its local queue on, with the settings its page on performance has, and with what the same page advises for completions.

import { query } from '../../test/support/postgres-database.ts'
import { payload } from '../journal/payload.ts'
import { type Contestant, inChunks, perSecond } from './workers.ts'

interface Pool {
  readonly waitingCount: number
  readonly idleCount: number
  readonly totalCount: number
  on(event: string, hear: (client: { on(event: string, hear: (error: Error) => void): void }) => void): void
  end(): Promise<void>
}

interface Spec {
  readonly identifier: string
  readonly payload: object
}

interface Utils {
  migrate(): Promise<void>
  addJob(identifier: string, payload: object): Promise<unknown>
  addJobs(specs: readonly Spec[]): Promise<unknown>
  release(): Promise<void>
}

interface GraphileWorker {
  readonly WorkerPreset: object
  readonly Logger: new (factory: () => (level: string, message: string) => void) => object
  makeWorkerUtils(options: object): Promise<Utils>
  runOnce(options: object): Promise<void>
}

/** `each`: a statement for every completion, as it is by default. `batched`: those of the same moment in one statement. */
export type Completions = 'each' | 'batched'

export interface GraphileQueue extends Contestant, AsyncDisposable {
  /** From starting the workers until the queue is empty and all completions are in the database: jobs a second. */
  drained(count: number, completions: Completions): Promise<number>
  offer(i: number): Promise<unknown>
  settings(completions: Completions): string
}

const TASK = 'bench'
const AT_ONCE = 1000
// As on its page about performance.
const PRESET = { concurrentJobs: 24, maxPoolSize: 25, localQueue: { size: 500 } }
const BATCHED = { completeJobBatchDelay: 0, failJobBatchDelay: 0 }

export async function openGraphile(url: string): Promise<GraphileQueue> {
  // As its own performance test does: a line for every job would be most of the time.
  process.env.NO_LOG_SUCCESS = '1'
  // Names the compiler does not follow: types are checked without the peers too.
  const [worker, driver]: string[] = ['graphile-worker', 'pg']
  const graphile = (await import(worker as string)) as GraphileWorker
  const pg = (await import(driver as string)) as { readonly default: { readonly Pool: new (options: object) => Pool } }
  let trouble: Error | undefined
  const note = (error: Error) => {
    trouble ??= error
  }
  const pool = new pg.default.Pool({ connectionString: url, max: PRESET.maxPoolSize })
  pool.on('error', (error) => note(error as unknown as Error))
  pool.on('connect', (client) => client.on('error', note))
  const logger = new graphile.Logger(() => (level, message) => {
    if (level === 'error') note(new Error(`graphile-worker: ${message}`))
  })
  const utils = await graphile.makeWorkerUtils({ pgPool: pool, preset: { worker: { logger } } })
  await utils.migrate()
  return {
    fill: (count) =>
      inChunks(count, AT_ONCE, (from, size) =>
        utils.addJobs(Array.from({ length: size }, (_, i) => ({ identifier: TASK, payload: payload(from + i) }))),
      ),
    left: async () => {
      if (trouble) throw trouble
      const [found] = await query(url, 'select count(*)::integer as n from graphile_worker._private_jobs')
      return (found as { readonly n: number }).n
    },
    drained: async (count, completions) => {
      let handled = 0
      const start = performance.now()
      await graphile.runOnce({
        pgPool: pool,
        noHandleSignals: true,
        taskList: {
          [TASK]: async () => {
            handled++
          },
        },
        preset: { extends: [graphile.WorkerPreset], worker: { ...PRESET, ...(completions === 'batched' ? BATCHED : {}), logger } },
      })
      await untilIdle(pool)
      const rate = perSecond(count, start)
      if (handled !== count) throw new Error(`graphile-worker handled ${handled} jobs of ${count}`)
      return rate
    },
    offer: (i) => utils.addJob(TASK, payload(i)),
    settings: (completions) =>
      `runOnce over a pool that is kept, ${shown({ ...PRESET, ...(completions === 'batched' ? BATCHED : {}) })}, NO_LOG_SUCCESS`,
    [Symbol.asyncDispose]: async () => {
      await utils.release()
      await pool.end()
    },
  }
}

/** It does not wait for completions before it takes the next job, nor before it says that it is done. */
async function untilIdle(pool: Pool): Promise<void> {
  while (pool.waitingCount > 0 || pool.idleCount < pool.totalCount) await new Promise((resolve) => setTimeout(resolve, 1))
}

const shown = (settings: object): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name} = ${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(', ')
