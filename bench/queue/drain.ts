// Draining a full queue on PostgreSQL with a handler that does nothing, each library in the way that it says is fast.

import { open } from '../../src/index.ts'
import { query } from '../../test/support/postgres-database.ts'
import { payload } from '../journal/payload.ts'
import { interleave } from '../lib/rounds.ts'
import { ratios, spread } from '../lib/stats.ts'
import { number } from '../lib/table.ts'
import { atLeast, type Findings, type Settings, type Workload } from '../lib/workload.ts'
import { startBenchServer } from '../postgres/server.ts'
import { openGraphile } from './graphile.ts'
import { CONCURRENCY, ourQueue, UNWRITTEN } from './ours.ts'
import { openPgBoss } from './pgboss.ts'
import { type Contestant, fullTurn } from './workers.ts'

const GOAL = 2

export const drain: Workload = {
  name: 'drain',
  title: 'drain a full queue on PostgreSQL, fsync on, against graphile-worker and pg-boss',
  needsPeers: true,
  run: async ({ quick, rounds }: Settings): Promise<Findings> => {
    await using server = await startBenchServer()
    const urls = { ours: await server.database(), graphile: await server.database(), boss: await server.database() }
    await using store = await open(urls.ours)
    await using graphile = await openGraphile(urls.graphile)
    await using boss = await openPgBoss(urls.boss)
    const ours = ourQueue(store)
    const count = quick ? 5_000 : 20_000
    const full = (who: Contestant, url: string, turn: (count: number) => Promise<number>) => () =>
      fullTurn(who, count, turn, () => query(url, 'vacuum analyze'))
    const found = await interleave(rounds, {
      ours: full(ours, urls.ours, (n) => ours.worked(CONCURRENCY, n, UNWRITTEN)),
      each: full(graphile, urls.graphile, (n) => graphile.drained(n, 'each')),
      batched: full(graphile, urls.graphile, (n) => graphile.drained(n, 'batched')),
      boss: full(boss, urls.boss, (n) => boss.drained(n)),
    })
    const beside = (peer: readonly number[], peerName: string) => ({
      unit: 'items/s',
      ours: spread(found.ours),
      peer: spread(peer),
      peerName,
      ratio: ratios(found.ours, peer),
    })
    const [each, batched] = [beside(found.each, 'graphile'), beside(found.batched, 'graphile')]
    return {
      measures: [
        { what: 'its local queue on', ...each, goal: atLeast(GOAL, each.ratio) },
        { what: 'its local queue on, completions batched', ...batched, goal: atLeast(GOAL, batched.ratio) },
        { what: 'batches', ...beside(found.boss, 'pg-boss') },
      ],
      notes: [
        server.settings,
        `${number(count)} items with a payload of ${JSON.stringify(payload(12_345)).length} bytes, all due, offered before; a handler that does nothing; every database is vacuumed and analysed before its turn`,
        'from starting the workers until the queue is empty, every completion is in the database and the workers have stopped; nothing was left in a queue afterwards',
        `graphile-worker: ${graphile.settings('each')}; batched: ${graphile.settings('batched')}`,
        'graphile-worker takes the next job without waiting for the completion of the last one, with batches and without, and deletes what is done',
        `pg-boss: ${boss.drainSettings}`,
        `ours: open(url) with its defaults, queue.work with a concurrency of ${CONCURRENCY} and ${UNWRITTEN} unwritten; each item is claimed and completed by events of its own`,
      ],
    }
  },
}
