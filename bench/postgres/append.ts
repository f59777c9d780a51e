// Appends on PostgreSQL against the event store TypeScript people would reach for: by 64 callers and by one, each in a session of its own.

import { open } from '../../src/index.ts'
import { payload, TYPE } from '../journal/payload.ts'
import { interleave, rate } from '../lib/rounds.ts'
import { ratios, spread } from '../lib/stats.ts'
import { atLeast, type Findings, type Settings, type Workload } from '../lib/workload.ts'
import { openEmmett } from './emmett.ts'
import { startBenchServer } from './server.ts'
import { callerSessions } from './sessions.ts'

const CALLERS = 64
const GOAL = 8
const STRETCH = 12

export const appendAgainstEmmett: Workload = {
  name: 'append',
  title: "append on PostgreSQL, fsync on, against Emmett's PostgreSQL event store",
  needsPeers: true,
  run: async ({ quick, rounds }: Settings): Promise<Findings> => {
    await using server = await startBenchServer()
    await using emmett = await openEmmett(await server.database())
    await using store = await open(await server.database())
    const sessionOf = await callerSessions(store, CALLERS)
    const ms = quick ? 500 : 1500
    let i = 0
    const ours = (caller: number) => sessionOf(caller).append(TYPE, payload(i++))
    const theirs = (caller: number) => emmett.append(caller, TYPE, payload(i++))
    const found = await interleave(rounds, {
      ours: () => rate(CALLERS, ms, ours),
      emmett: () => rate(CALLERS, ms, theirs),
      ours1: () => rate(1, ms / 2, ours),
      emmett1: () => rate(1, ms / 2, theirs),
    })
    const ratio = ratios(found.ours, found.emmett)
    const pair = (mine: readonly number[], peer: readonly number[]) => ({
      unit: 'ev/s',
      ours: spread(mine),
      peer: spread(peer),
      peerName: 'Emmett',
      ratio: ratios(mine, peer),
    })
    return {
      measures: [
        { what: `${CALLERS} callers`, ...pair(found.ours, found.emmett), goal: atLeast(GOAL, ratio) },
        { what: '1 caller', ...pair(found.ours1, found.emmett1) },
      ],
      notes: [
        `the stretch of ${STRETCH} × is ${ratio.median >= STRETCH ? 'reached' : 'not reached'}`,
        server.settings,
        `payload ${JSON.stringify(payload(12_345)).length} bytes; ${ms} ms a turn, half of it for one caller; a session or a stream for each caller`,
        `Emmett: ${emmett.settings}`,
        'ours: open(url) with its defaults, redaction on',
      ],
    }
  },
}
