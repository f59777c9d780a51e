// pg-boss, as its documentation uses it: one instance, a queue with its defaults, fetch and complete.

import { query } from '../../test/support/postgres-database.ts'
import { payload } from '../journal/payload.ts'
import { type Contestant, inChunks, perSecond, worked } from './workers.ts'

interface Job {
  readonly id: string
}

interface Boss {
  on(event: 'error', hear: (error: unknown) => void): void
  start(): Promise<unknown>
  stop(): Promise<void>
  createQueue(name: string): Promise<void>
  send(name: string, data: object): Promise<string | null>
  insert(name: string, jobs: readonly { readonly data: object }[]): Promise<unknown>
  fetch(name: string, options?: { readonly batchSize: number }): Promise<readonly Job[]>
  complete(name: string, ids: string | readonly string[]): Promise<{ readonly affected: number }>
}

export interface PgBossQueue extends Contestant, AsyncDisposable {
  /** Jobs fetched and completed one by one, by so many workers: jobs a second. */
  worked(workers: number, count: number): Promise<number>
  /** The same in batches, with one fetch and one complete for each. */
  drained(count: number): Promise<number>
  offer(i: number): Promise<unknown>
  readonly settings: string
  readonly drainSettings: string
}

const QUEUE = 'bench'
const AT_ONCE = 1000
// Tried on a queue of 20,000: batches of 100 (1, 4 and 10 fetchers), 500 (2), 1,000 (1, 2 and 4) and 2,000 (2). The largest were the
// fastest, because a fetch sorts all that is waiting.
const BATCH = 2000
const FETCHERS = 2

export async function openPgBoss(url: string): Promise<PgBossQueue> {
  // A name the compiler does not follow: types are checked without the peers too.
  const name: string = 'pg-boss'
  const { PgBoss } = (await import(name)) as { readonly PgBoss: new (url: string) => Boss }
  const boss = new PgBoss(url)
  let trouble: unknown
  boss.on('error', (error) => {
    trouble ??= error
  })
  await boss.start()
  await boss.createQueue(QUEUE)

  const complete = async (jobs: readonly Job[]) => {
    const { affected } = await boss.complete(
      QUEUE,
      jobs.map(({ id }) => id),
    )
    if (affected !== jobs.length) throw new Error(`pg-boss completed ${affected} of ${jobs.length} jobs`)
  }
  return {
    fill: (count) =>
      inChunks(count, AT_ONCE, (from, size) =>
        boss.insert(
          QUEUE,
          Array.from({ length: size }, (_, i) => ({ data: payload(from + i) })),
        ),
      ),
    left: async () => {
      if (trouble !== undefined) throw trouble
      const [found] = await query(url, `select count(*)::integer as n from pgboss.job where name = '${QUEUE}' and state < 'completed'`)
      return (found as { readonly n: number }).n
    },
    worked: (workers, count) =>
      worked(workers, count, async () => {
        const jobs = await boss.fetch(QUEUE)
        if (jobs.length === 0) return false
        await complete(jobs)
        return true
      }),
    drained: async (count) => {
      const start = performance.now()
      const fetcher = async () => {
        for (
          let jobs = await boss.fetch(QUEUE, { batchSize: BATCH });
          jobs.length > 0;
          jobs = await boss.fetch(QUEUE, { batchSize: BATCH })
        )
          await complete(jobs)
      }
      await Promise.all(Array.from({ length: FETCHERS }, fetcher))
      return perSecond(count, start)
    },
    offer: (i) => boss.send(QUEUE, payload(i)),
    settings:
      'new PgBoss(url) with its defaults (a pool of 10 connections of pg, its maintenance on), a queue with its defaults, fetch and complete of one job; work() would wait half a second between two fetches',
    drainSettings: `the same instance, ${FETCHERS} loops of fetch with a batchSize of ${BATCH} and one complete for the batch: no job is completed on its own`,
    [Symbol.asyncDispose]: () => boss.stop(),
  }
}
