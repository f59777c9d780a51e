// The graph that both savers run: a turn adds a question and an answer of 1,000 characters each.

import { AIMessage, HumanMessage } from '@langchain/core/messages'
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'

const CHARACTERS = 1000
export const RAW_BYTES = 2 * CHARACTERS
export const THREAD = { configurable: { thread_id: 'thread-1', checkpoint_ns: '' } }

/** Letters that hardly compress, from a seed. */
export function textsFrom(seed: number): () => string {
  let state = seed
  const next = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return state >>> 8
  }
  return () => Array.from({ length: CHARACTERS }, () => 'abcdefghijklmnopqrstuvwxyz     '[next() % 31]).join('')
}

/** Runs one turn and says how long it took, in milliseconds. */
export function talker(checkpointer: BaseCheckpointSaver): () => Promise<number> {
  const text = textsFrom(1)
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', () => ({ messages: [new AIMessage(text())] }))
    .addEdge('__start__', 'model')
    .compile({ checkpointer })
  return async () => {
    const messages = [new HumanMessage(text())]
    const start = performance.now()
    await graph.invoke({ messages }, THREAD)
    return performance.now() - start
  }
}
