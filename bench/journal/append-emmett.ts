// Durable appends against the event store TypeScript people would reach for: by one caller, who waits for every flush, and by 64.

import { join } from 'node:path'
import { open } from '../../src/index.ts'
import { interleave, rate } from '../lib/rounds.ts'
import { ratios, spread } from '../lib/stats.ts'
import { atLeast, type Findings, type Measure, type Settings, type Workload } from '../lib/workload.ts'
import { openEmmett } from './emmett.ts'
import { payload, TYPE } from './payload.ts'

export const appendAgainstEmmett: Workload = {
  name: 'append-emmett',
  title: "durable append, FULL, against Emmett's SQLite event store",
  needsPeers: true,
  run: async ({ quick, rounds, folder }: Settings): Promise<Findings> => {
    await using store = await open(join(folder, 'ours.db'))
    const session = await store.session('bench')
    const emmett = await openEmmett(folder)
    const queued = inTurn(emmett.kept)
    const ms = quick ? 300 : 800
    let i = 0
    const found = await interleave(rounds, {
      ours: () => rate(1, ms, () => session.append(TYPE, payload(i++))),
      store: () => rate(1, ms, () => emmett.store(TYPE, payload(i++))),
      kept: () => rate(1, ms, () => emmett.kept(TYPE, payload(i++))),
      ours64: () => rate(64, ms, () => session.append(TYPE, payload(i++))),
      kept64: () => rate(64, ms, () => queued(TYPE, payload(i++))),
    })
    emmett.close()
    const against = (what: string, ours: readonly number[], peer: readonly number[], peerName: string, goal?: number): Measure => {
      const ratio = ratios(ours, peer)
      return {
        what,
        unit: 'ev/s',
        ours: spread(ours),
        peer: spread(peer),
        peerName,
        ratio,
        ...(goal !== undefined && { goal: atLeast(goal, ratio) }),
      }
    }
    return {
      measures: [
        against('1 caller', found.ours, found.store, 'event store', 8),
        against('1 caller, peer’s connection kept open', found.ours, found.kept, 'kept'),
        against('64 callers, peer’s connection kept open', found.ours64, found.kept64, 'kept'),
      ],
      notes: [
        `Emmett: ${emmett.settings}`,
        'Emmett’s event store opens and closes a connection for every append to a file, and fails with “Database is closed” when asked by several at once; so the second and third line give it one open connection, and its 64 callers take turns',
      ],
    }
  },
}

/** One at a time, in the order they came. */
function inTurn<A extends unknown[]>(work: (...args: A) => Promise<unknown>): (...args: A) => Promise<unknown> {
  let last: Promise<unknown> = Promise.resolve()
  return (...args) => {
    last = last.then(() => work(...args))
    return last
  }
}
