// Saves of one message, and loads of the last forty, beside Mastra's libSQL storage; and a streamed answer beside one save.

import { join } from 'node:path'
import { open } from '../../src/index.ts'
import { interleave, rate } from '../lib/rounds.ts'
import { ratios, spread } from '../lib/stats.ts'
import { atLeast, type Findings, type Measure, type Settings, type Workload } from '../lib/workload.ts'
import { mastra } from './mastra.ts'

const TEXT = 'A message of a conversation, as people and models write them. '.repeat(8)
const LAST = 40
const CHUNKS = 2000

export const messages: Workload = {
  name: 'messages',
  title: 'messages of a thread',
  needsPeers: true,
  run: async ({ folder, rounds, quick }: Settings): Promise<Findings> => {
    const ms = quick ? 500 : 2000
    const measures: Measure[] = []
    for (const [callers, goal] of [
      [1, 4],
      [64, 15],
    ] as const) {
      await using store = await open({ url: join(folder, `ours-${callers}.db`) })
      const sessions = await Promise.all(Array.from({ length: callers }, (_, i) => store.session(`s${i}`)))
      const peer = await mastra(join(folder, `mastra-${callers}.db`))
      for (let i = 0; i < callers; i++) await peer.open(`t${i}`)
      let n = 0
      const who = callers === 1 ? 'one caller' : `${callers} callers`
      const threadOf = (caller: number) => (sessions[caller % callers] as (typeof sessions)[number]).thread
      const saved = await interleave(rounds, {
        ours: () =>
          rate(callers, ms, async (caller) => {
            await threadOf(caller).add({ id: `m${n++}`, role: 'user', parts: [{ type: 'text', text: TEXT }] })
          }),
        peer: () => rate(callers, ms, (caller) => peer.save(`t${caller % callers}`, `m${n++}`, TEXT)),
      })
      const ratio = ratios(saved.ours, saved.peer)
      const shown = { ours: spread(saved.ours), peer: spread(saved.peer), peerName: 'Mastra libSQL' }
      measures.push({ what: `save, ${who}`, unit: 'messages/s', ...shown, ratio, goal: atLeast(goal, ratio) })
      const loaded = await interleave(rounds, {
        ours: () =>
          rate(callers, ms, async (caller) => {
            await threadOf(caller).messages({ last: LAST })
          }),
        peer: () =>
          rate(callers, ms, async (caller) => {
            await peer.last(`t${caller % callers}`, LAST)
          }),
      })
      measures.push({
        what: `load the last ${LAST}, ${who}`,
        unit: 'loads/s',
        ours: spread(loaded.ours),
        peer: spread(loaded.peer),
        peerName: 'Mastra libSQL',
        ratio: ratios(loaded.ours, loaded.peer),
      })
      await peer.close()
    }
    measures.push(await streamed(folder, rounds, ms))
    return { measures, notes: ['each caller has a thread of its own; a message has about 500 characters; FULL on both sides'] }
  },
}

/** A stream of 2,000 chunks, beside one save of the message that it makes. */
async function streamed(folder: string, rounds: number, ms: number): Promise<Measure> {
  await using store = await open({ url: join(folder, 'streams.db') })
  const { thread } = await store.session('s')
  const pieces = Array.from({ length: CHUNKS }, (_, i) => `word${i % 97} `)
  let n = 0
  const found = await interleave(rounds, {
    ours: () =>
      rate(1, ms, async () => {
        await using stream = thread.stream(`s${n++}`)
        await stream.write({ type: 'text-start', id: '0' })
        for (const delta of pieces) await stream.write({ type: 'text-delta', id: '0', delta })
        await stream.write({ type: 'text-end', id: '0' })
      }),
    peer: () =>
      rate(1, ms, async () => {
        await thread.add({ id: `s${n++}`, role: 'assistant', parts: [{ type: 'text', text: pieces.join('') }] })
      }),
  })
  return {
    what: `a streamed answer of ${CHUNKS} chunks`,
    unit: 'answers/s',
    ours: spread(found.ours),
    peer: spread(found.peer),
    peerName: 'one save',
    ratio: ratios(found.ours, found.peer),
  }
}
