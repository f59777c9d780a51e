// What each part of a commit costs on PostgreSQL: batches of 64 straight to the backend, the journal alone beside the same with guards, rows,
// keys, and without the wall.

import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { keyOf, MAIN, maker, put } from '../../src/conformance/material.ts'
import type { Commit } from '../../src/ports/commit.ts'
import { query } from '../../test/support/postgres-database.ts'
import { interleave } from '../lib/rounds.ts'
import { ratios, spread } from '../lib/stats.ts'
import type { Findings, Settings, Workload } from '../lib/workload.ts'
import { startBenchServer } from './server.ts'

const BATCH = 64
const PAYLOAD = JSON.stringify({ text: 'x'.repeat(260) })
const TABLES = ['heads', 'events', 'receipts', 'sessions', 'names', 'leases']

export const costs: Workload = {
  name: 'costs',
  title: 'what each part of a commit costs on PostgreSQL, in batches of 64 without the kernel',
  run: async ({ quick, rounds }: Settings): Promise<Findings> => {
    await using server = await startBenchServer()
    const [url, openUrl] = [await server.database(), await server.database()]
    const backend = await postgresBackend({ url })
    const unwalled = await postgresBackend({ url: openUrl })
    try {
      // After opening, which would refuse to serve it.
      for (const name of TABLES) await query(openUrl, `alter table inkfast.${name} disable row level security`)
      const make = maker()
      const sessions = Array.from({ length: BATCH }, () => make.id<'session'>())
      let n = 0
      const event = (i: number) => make.draft(MAIN, { session: sessions[i % BATCH] as (typeof sessions)[number], payload: PAYLOAD })
      const free = (id: string) => ({ kind: 'row', table: 'names', id, revision: 0 }) as const
      const kinds = {
        journal: (i: number) => make.commit(MAIN, { events: [event(i)] }),
        guards: (i: number) => make.commit(MAIN, { events: [event(i)], guards: [free(`none ${n++}`)] }),
        rows: (i: number) => make.commit(MAIN, { events: [event(i)], changes: [put('names', `row ${n++}`, { target: 'x' })] }),
        both: (i: number) => {
          const id = `both ${n++}`
          return make.commit(MAIN, { events: [event(i)], guards: [free(id)], changes: [put('names', id, { target: 'x' })] })
        },
        keys: (i: number) => make.commit(MAIN, { events: [event(i)], key: keyOf(MAIN, `key ${n++}`) }),
      } satisfies Record<string, (i: number) => Commit>
      const ms = quick ? 400 : 1200
      const measure = (on: typeof backend, kind: (i: number) => Commit) => async () => {
        let [saved, spent] = [0, 0]
        while (spent < ms) {
          const batch = Array.from({ length: BATCH }, (_, i) => kind(i))
          const start = performance.now()
          const outcomes = await on.commit(batch)
          spent += performance.now() - start
          if (outcomes.some((outcome) => !outcome.ok)) throw new Error('a commit of the benchmark was refused')
          saved += BATCH
        }
        return (saved * 1000) / spent
      }
      const found = await interleave(rounds, {
        journal: measure(backend, kinds.journal),
        guards: measure(backend, kinds.guards),
        rows: measure(backend, kinds.rows),
        both: measure(backend, kinds.both),
        keys: measure(backend, kinds.keys),
        open: measure(unwalled, kinds.journal),
      })
      const row = (what: string, mine: readonly number[]) => ({
        what,
        unit: 'ev/s',
        ours: spread(mine),
        peer: spread(found.journal),
        peerName: 'journal alone',
        ratio: ratios(mine, found.journal),
      })
      return {
        measures: [
          { what: 'journal alone, walled', unit: 'ev/s', ours: spread(found.journal) },
          row('the same without row-level security', found.open),
          row('a guard each', found.guards),
          row('a row each', found.rows),
          row('a guard and a row each', found.both),
          row('a key each', found.keys),
        ],
        notes: [
          server.settings,
          `${BATCH} commits of one event a batch, ${PAYLOAD.length} bytes of payload; making the batch is not counted`,
        ],
      }
    } finally {
      await backend.close()
      await unwalled.close()
    }
  },
}
