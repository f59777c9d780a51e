// Offering one item a call on PostgreSQL, by many callers at once and by one.

import { open } from '../../src/index.ts'
import { payload } from '../journal/payload.ts'
import { interleave, rate } from '../lib/rounds.ts'
import { ratios, spread } from '../lib/stats.ts'
import type { Findings, Settings, Workload } from '../lib/workload.ts'
import { startBenchServer } from '../postgres/server.ts'
import { openGraphile } from './graphile.ts'
import { ourQueue } from './ours.ts'
import { openPgBoss } from './pgboss.ts'

const CALLERS = 64

export const offers: Workload = {
  name: 'offers',
  title: 'offer one item a call on PostgreSQL, fsync on, beside pg-boss and graphile-worker',
  needsPeers: true,
  run: async ({ quick, rounds }: Settings): Promise<Findings> => {
    await using server = await startBenchServer()
    await using store = await open(await server.database())
    await using boss = await openPgBoss(await server.database())
    await using graphile = await openGraphile(await server.database())
    const ours = ourQueue(store)
    const ms = quick ? 400 : 1200
    let i = 0
    const offering = (callers: number, to: { offer(i: number): Promise<unknown> }) => () => rate(callers, ms, () => to.offer(i++))
    const found = await interleave(rounds, {
      ours: offering(CALLERS, ours),
      boss: offering(CALLERS, boss),
      graphile: offering(CALLERS, graphile),
      ours1: offering(1, ours),
      boss1: offering(1, boss),
      graphile1: offering(1, graphile),
    })
    const pair = (own: readonly number[], peer: readonly number[], peerName: string) => ({
      unit: 'items/s',
      ours: spread(own),
      peer: spread(peer),
      peerName,
      ratio: ratios(own, peer),
    })
    return {
      measures: [
        { what: `${CALLERS} callers`, ...pair(found.ours, found.boss, 'pg-boss') },
        { what: `${CALLERS} callers`, ...pair(found.ours, found.graphile, 'graphile') },
        { what: '1 caller', ...pair(found.ours1, found.boss1, 'pg-boss') },
        { what: '1 caller', ...pair(found.ours1, found.graphile1, 'graphile') },
      ],
      notes: [
        server.settings,
        `a payload of ${JSON.stringify(payload(12_345)).length} bytes; ${ms} ms a turn; queue.offer beside boss.send and utils.addJob, without a key, and nobody takes anything out`,
        'both peers can insert many jobs with one call, which is faster than any of this and has one outcome for all of them',
      ],
    }
  },
}
