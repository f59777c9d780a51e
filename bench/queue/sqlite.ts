// A queue on SQLite beside the floor: what claims and completions cost over the same rows and events written by hand.

import { join } from 'node:path'
import { open } from '../../src/index.ts'
import { payload } from '../journal/payload.ts'
import { interleave } from '../lib/rounds.ts'
import { ratios, spread } from '../lib/stats.ts'
import { number } from '../lib/table.ts'
import type { Findings, Settings, Workload } from '../lib/workload.ts'
import { CONCURRENCY, LEASE, ourQueue } from './ours.ts'
import { RawQueue } from './raw-sqlite.ts'
import { sampleOf } from './sample.ts'
import { fullTurn } from './workers.ts'

const WORKERS = 10

export const onSqlite: Workload = {
  name: 'sqlite',
  title: 'claim and complete, and drain a full queue on SQLite, FULL, beside raw node:sqlite',
  run: async ({ quick, rounds, folder }: Settings): Promise<Findings> => {
    await using store = await open(join(folder, 'queue.db'))
    const raw = new RawQueue(join(folder, 'raw.db'), await sampleOf(join(folder, 'sample.db')))
    const ours = ourQueue(store)
    const [some, all] = quick ? [500, 2_000] : [1_000, 10_000]
    const mine = (workers: number) => () => fullTurn(ours, some, (n) => ours.byHand(workers, n))
    const floor = (workers: number) => () => fullTurn(raw, some, (n) => raw.worked(workers, n))
    const found = await interleave(rounds, {
      ours1: mine(1),
      raw1: floor(1),
      ours: mine(WORKERS),
      raw: floor(WORKERS),
      drained: () => fullTurn(ours, all, (n) => ours.worked(CONCURRENCY, n)),
      rawDrained: () => fullTurn(raw, all, (n) => raw.worked(1, n)),
    })
    raw.close()
    const pair = (own: readonly number[], peer: readonly number[]) => ({
      unit: 'items/s',
      ours: spread(own),
      peer: spread(peer),
      peerName: 'raw',
      ratio: ratios(own, peer),
    })
    return {
      measures: [
        { what: '1 worker', ...pair(found.ours1, found.raw1) },
        { what: `${WORKERS} workers`, ...pair(found.ours, found.raw) },
        { what: `drain ${number(all)} items`, ...pair(found.drained, found.rawDrained) },
      ],
      notes: [
        `a payload of ${JSON.stringify(payload(12_345)).length} bytes; ${number(some)} items wait for the workers, offered before; nothing was left in a queue afterwards`,
        `raw: ${raw.settings}; a transaction and a flush for each claim and each completion, the same columns, indexes, events and three SHA-256 an event, no triggers; it has one thread and no way to share a flush, so ten workers are one`,
        `ours: open(path) with its defaults, queue.claim with a lease of ${LEASE} and claim.complete; drained by queue.work with a concurrency of ${CONCURRENCY}, where commits of the same moment share a flush`,
      ],
    }
  },
}
