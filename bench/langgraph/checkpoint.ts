// Steps per second: a step saves a checkpoint with one more message, and the writes of a task, as LangGraph does.

import { join } from 'node:path'
import { HumanMessage } from '@langchain/core/messages'
import { type BaseCheckpointSaver, emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint'
import { InkfastSaver } from '../../src/adapters/langgraph/index.ts'
import { open } from '../../src/index.ts'
import { interleave, rate } from '../lib/rounds.ts'
import { ratios, spread } from '../lib/stats.ts'
import { atLeast, type Findings, type Measure, type Settings, type Workload } from '../lib/workload.ts'
import { textsFrom } from './graph.ts'
import { sqliteSaver } from './sqlite-saver.ts'

/** Messages of a thread before the caller begins another. */
const LENGTH = 40

export const checkpoint: Workload = {
  name: 'checkpoint',
  title: 'steps of LangGraph per second',
  needsPeers: true,
  run: async ({ folder, rounds, quick }: Settings): Promise<Findings> => {
    const measures: Measure[] = []
    for (const [callers, goal] of [
      [1, 2],
      [64, 10],
    ] as const) {
      await using store = await open(join(folder, `ours-${callers}.db`))
      const peer = await sqliteSaver(join(folder, `peer-${callers}.db`))
      const ms = quick ? 1000 : 3000
      const [ourStep, theirStep] = [stepper(new InkfastSaver(store)), stepper(peer.saver)]
      const found = await interleave(rounds, { ours: () => rate(callers, ms, ourStep), peer: () => rate(callers, ms, theirStep) })
      peer.close()
      const ratio = ratios(found.ours, found.peer)
      const what = callers === 1 ? 'one caller' : `${callers} callers`
      measures.push({
        what,
        unit: 'steps/s',
        ours: spread(found.ours),
        peer: spread(found.peer),
        peerName: 'SqliteSaver',
        ratio,
        goal: atLeast(goal, ratio),
      })
    }
    return {
      measures,
      notes: [
        `a step is one put and one putWrites at the same time; each caller has threads of its own, of up to ${LENGTH} messages; FULL`,
      ],
    }
  },
}

function stepper(saver: BaseCheckpointSaver): (caller: number) => Promise<void> {
  const text = textsFrom(7)
  const threads = new Map<number, { id: string; parent: string | undefined; messages: HumanMessage[] }>()
  let made = 0
  return async (caller) => {
    const known = threads.get(caller)
    const thread = known && known.messages.length < LENGTH ? known : { id: `thread-${++made}`, parent: undefined, messages: [] }
    threads.set(caller, thread)
    const message = new HumanMessage({ content: text(), id: uuid6(caller) })
    thread.messages = [...thread.messages, message]
    const version = thread.messages.length
    const id = uuid6(caller)
    const configurable = { thread_id: thread.id, checkpoint_ns: '', ...(thread.parent && { checkpoint_id: thread.parent }) }
    const saved = { ...emptyCheckpoint(), id, channel_values: { messages: thread.messages }, channel_versions: { messages: version } }
    const metadata = { source: 'loop', step: version, parents: {} } as const
    await Promise.all([
      ...(thread.parent ? [saver.putWrites({ configurable }, [['messages', [message]]], uuid6(caller))] : []),
      saver.put({ configurable }, saved, metadata, { messages: version }),
    ])
    thread.parent = id
  }
}
