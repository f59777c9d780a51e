// Notifications to a hundred nodes, on one channel and on sixteen by a hash of the tenant. A node that serves all tenants listens on all of them,
// so the channels can only help nodes that watch few tenants: here each listens on one.

import { Client } from 'pg'
import { interleave } from '../lib/rounds.ts'
import { ratios, spread } from '../lib/stats.ts'
import type { Findings, Settings, Workload } from '../lib/workload.ts'
import { startBenchServer } from '../postgres/server.ts'

const LISTENERS = 100
const CHANNELS = 16
const NOTES = 2000
/** So many names are told together at most, as by a node that has written to many tenants. */
const TOGETHER = 10

interface Turn {
  /** From the first notification until the last listener has all that are for it. */
  readonly perSecond: number
  /** Of the process of all listeners. */
  readonly clientMs: number
}

async function turn(url: string, channels: number): Promise<Turn> {
  const channelOf = (n: number): string => `bench_${n % channels}`
  let left = 0
  const all = Promise.withResolvers<void>()
  const listeners = await Promise.all(
    Array.from({ length: LISTENERS }, async (_, n) => {
      const client = new Client(url)
      await client.connect()
      client.on('notification', () => {
        if (--left === 0) all.resolve()
      })
      await client.query(`listen ${channelOf(n)}`)
      return client
    }),
  )
  for (let note = 0; note < NOTES; note++) for (let n = 0; n < LISTENERS; n++) if (channelOf(n) === channelOf(note)) left++
  const teller = new Client(url)
  await teller.connect()
  const [since, cpu] = [performance.now(), process.cpuUsage()]
  for (let note = 0; note < NOTES; note += TOGETHER) {
    const notes = Array.from({ length: TOGETHER }, (_, i) => `notify ${channelOf(note + i)}, '${note + i}-0123456789abcdef';`)
    await teller.query(`begin; set local synchronous_commit = off; ${notes.join(' ')} commit`)
  }
  await all.promise
  const [ms, used] = [performance.now() - since, process.cpuUsage(cpu)]
  await Promise.all([teller, ...listeners].map((client) => client.end()))
  return { perSecond: (1000 * NOTES) / ms, clientMs: (used.user + used.system) / 1000 }
}

export const channels: Workload = {
  name: 'channels',
  title: `notifications to ${LISTENERS} nodes, on one channel and on ${CHANNELS}`,
  run: async ({ rounds }: Settings): Promise<Findings> => {
    await using server = await startBenchServer()
    const url = await server.database()
    const cpu = { one: [] as number[], many: [] as number[] }
    const turnOn = (count: number, spent: number[]) => async (): Promise<number> => {
      const { perSecond, clientMs } = await turn(url, count)
      spent.push(clientMs)
      return perSecond
    }
    const found = await interleave(rounds, { one: turnOn(1, cpu.one), many: turnOn(CHANNELS, cpu.many) })
    return {
      measures: [
        {
          what: 'notifications until all have heard theirs',
          unit: '/s',
          ours: spread(found.one),
          peer: spread(found.many),
          peerName: `${CHANNELS} channels`,
          ratio: ratios(found.one, found.many),
        },
        {
          what: `CPU of the listeners for ${NOTES} of them`,
          unit: 'ms',
          ours: spread(cpu.one),
          peer: spread(cpu.many),
          peerName: `${CHANNELS} channels`,
          ratio: ratios(cpu.one, cpu.many),
        },
      ],
      notes: [server.settings, 'all listeners are connections of one process; ours is one channel, the peer is by a hash of the tenant'],
    }
  },
}
