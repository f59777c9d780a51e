// Claiming and completing one item at a time on PostgreSQL, against pg-boss: by one worker, and by ten in the same process.

import { open } from '../../src/index.ts'
import { query } from '../../test/support/postgres-database.ts'
import { payload } from '../journal/payload.ts'
import { interleave } from '../lib/rounds.ts'
import { ratios, spread } from '../lib/stats.ts'
import { number } from '../lib/table.ts'
import { atLeast, type Findings, type Settings, type Workload } from '../lib/workload.ts'
import { startBenchServer } from '../postgres/server.ts'
import { LEASE, ourQueue } from './ours.ts'
import { openPgBoss } from './pgboss.ts'
import { fullTurn } from './workers.ts'

const WORKERS = 10
const GOAL_ONE = 3
// Completions that may be on their way while the next item is worked on. By default there is none.
const LOOSE = 64
const GOAL = 4

export const claims: Workload = {
  name: 'claims',
  title: 'claim and complete one item at a time on PostgreSQL, fsync on, against pg-boss',
  needsPeers: true,
  run: async ({ quick, rounds }: Settings): Promise<Findings> => {
    await using server = await startBenchServer()
    const [ourUrl, bossUrl] = [await server.database(), await server.database()]
    await using store = await open(ourUrl)
    await using boss = await openPgBoss(bossUrl)
    const ours = ourQueue(store)
    const [alone, together] = quick ? [200, 500] : [500, 1000]
    const mine = (workers: number, count: number, unwritten?: number) =>
      fullTurn(ours, count, (n) => ours.worked(workers, n, unwritten), tidied(ourUrl))
    const byHand = (workers: number, count: number) => fullTurn(ours, count, (n) => ours.byHand(workers, n), tidied(ourUrl))
    const theirs = (workers: number, count: number) => fullTurn(boss, count, (n) => boss.worked(workers, n), tidied(bossUrl))
    const found = await interleave(rounds, {
      ours1: () => mine(1, alone),
      boss1: () => theirs(1, alone),
      ours: () => mine(WORKERS, together),
      boss: () => theirs(WORKERS, together),
      loose1: () => mine(1, alone, LOOSE),
      hand1: () => byHand(1, alone),
      hand: () => byHand(WORKERS, together),
    })
    const pair = (own: readonly number[], peer: readonly number[], goal?: number) => {
      const ratio = ratios(own, peer)
      return {
        unit: 'items/s',
        ours: spread(own),
        peer: spread(peer),
        peerName: 'pg-boss',
        ratio,
        ...(goal !== undefined && { goal: atLeast(goal, ratio) }),
      }
    }
    return {
      measures: [
        { what: '1 worker', ...pair(found.ours1, found.boss1, GOAL_ONE) },
        { what: `${WORKERS} workers`, ...pair(found.ours, found.boss, GOAL) },
        { what: `1 worker, ${LOOSE} unwritten`, ...pair(found.loose1, found.boss1) },
        { what: '1 worker, claimed by hand', ...pair(found.hand1, found.boss1) },
        { what: `${WORKERS} workers, claimed by hand`, ...pair(found.hand, found.boss) },
      ],
      notes: [
        server.settings,
        `a payload of ${JSON.stringify(payload(12_345)).length} bytes; ${number(alone)} items wait for one worker and ${number(together)} for ${WORKERS}, offered before; every database is vacuumed and analysed before its turn`,
        'by hand, and pg-boss: a worker claims, waits for the answer, completes, waits for the answer, and begins again; nothing was left in a queue afterwards',
        `ours: queue.work with a concurrency of 1 and of ${WORKERS} and a handler that does nothing, from starting it until it is closed. It completes and claims in one commit, and claims ahead because its handlers are quick; each item has its own claim and completion in the journal`,
        `pg-boss: ${boss.settings}`,
        `ours: open(url) with its defaults; by hand with a lease of ${LEASE}`,
      ],
    }
  },
}

/** What autovacuum would do sooner or later, and then in the middle of somebody's turn. */
const tidied = (url: string) => () => query(url, 'vacuum analyze')
