// The saver keeps live messages. An edit of one must reach the store exactly when MemorySaver would store it.

import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages'
import { MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InkfastSaver } from '../../src/adapters/langgraph/index.ts'
import { isSame, watch } from '../../src/adapters/langgraph/watch.ts'
import type { Store } from '../../src/index.ts'
import { openIn } from '../support/engines.ts'
import { rounds, SEED } from '../support/rounds.ts'

type Edit = (message: BaseMessage) => void

const topLevel: Edit = (message) => {
  message.content = 'edited'
}
const nested: Edit = (message) => {
  message.additional_kwargs.mood = 'edited'
}

const thread = { configurable: { thread_id: 'ada' } }

/** Talks three times. Edits the first message in the last node, or between the calls. */
async function talk(checkpointer: BaseCheckpointSaver, edit: Edit, isInNode: boolean): Promise<readonly unknown[]> {
  let turn = 0
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', ({ messages }) => {
      if (isInNode && turn === 2) edit(messages[0] as BaseMessage)
      return { messages: [new AIMessage({ content: `answer ${turn}`, id: `answer-${turn}` })] }
    })
    .addEdge('__start__', 'model')
    .compile({ checkpointer })
  for (turn = 0; turn < 3; turn++) {
    const { messages } = await graph.invoke(
      { messages: [new HumanMessage({ content: `question ${turn}`, id: `question-${turn}` })] },
      thread,
    )
    if (!isInNode && turn === 1) edit(messages[0] as BaseMessage)
  }
  const { values } = await graph.getState(thread)
  return (values.messages as readonly BaseMessage[]).map(({ id, content, additional_kwargs }) => ({ id, content, additional_kwargs }))
}

const identityOnly = (store: Store): InkfastSaver => Reflect.construct(InkfastSaver, [store, {}, () => true])

describe.each([
  ['a member of a returned message', topLevel, false],
  ['a nested member of a returned message', nested, false],
  ['a member of a message inside a node', topLevel, true],
  ['a nested member of a message inside a node', nested, true],
] as const)('an edit of %s', (_, edit, isInNode) => {
  it('an edited message is stored as MemorySaver stores it, also for a process that starts later', async () => {
    const store = await openIn(':memory:')
    const wanted = await talk(new MemorySaver(), edit, isInNode)
    expect(await talk(new InkfastSaver(store), edit, isInNode)).toEqual(wanted)
    const cold = await new InkfastSaver(store).getTuple(thread)
    const messages = cold?.checkpoint.channel_values.messages as readonly BaseMessage[]
    expect(messages.map(({ id, content, additional_kwargs }) => ({ id, content, additional_kwargs }))).toEqual(wanted)
  })
})

it('a cache that compares identities only loses an edit or lets a caller change the thread', async () => {
  let wrong = 0
  for (const edit of [topLevel, nested])
    for (const isInNode of [false, true]) {
      const wanted = JSON.stringify(await talk(new MemorySaver(), edit, isInNode))
      const store = await openIn(':memory:')
      const live = JSON.stringify(await talk(identityOnly(store), edit, isInNode))
      const cold = (await new InkfastSaver(store).getTuple(thread))?.checkpoint.channel_values.messages as readonly BaseMessage[]
      const stored = JSON.stringify(cold.map(({ id, content, additional_kwargs }) => ({ id, content, additional_kwargs })))
      if (live !== wanted || stored !== wanted) wrong++
    }
  expect(wrong).toBe(4)
})

it('a watch sees every change of the JSON of an object', () => {
  const json = fc.jsonValue({ maxDepth: 4 })
  fc.assert(
    fc.property(json, fc.array(fc.nat(), { maxLength: 6 }), json, (value, path, other) => {
      const root = { value: structuredClone(value) as unknown }
      const watched = watch(root)
      if (!watched) throw new Error('JSON can always be watched')
      const before = JSON.stringify(root)
      expect(isSame(watched)).toBe(true)
      let at = root as Record<string, unknown>
      for (const step of path) {
        const inner = Object.values(at).filter((one) => typeof one === 'object' && one !== null)
        if (inner.length === 0) break
        at = inner[step % inner.length] as Record<string, unknown>
      }
      const keys = Object.keys(at)
      const key = keys[(path[0] ?? 0) % Math.max(1, keys.length)] ?? 'new'
      if ((path[0] ?? 0) % 3 === 0 && !Array.isArray(at)) delete at[key]
      else at[(path[0] ?? 0) % 3 === 1 && !Array.isArray(at) ? 'renamed' : key] = other
      if (JSON.stringify(root) !== before) expect(isSame(watched)).toBe(false)
    }),
    { seed: SEED, numRuns: rounds(500, 20_000) },
  )
})

it.each([
  ['a Map', new Map()],
  ['a Date', new Date(0)],
  ['an object with toJSON', { toJSON: () => 1 }],
  ['an instance of a class', new (class Secret {})()],
])('%s is never taken for unchanged', (_, value) => {
  expect(watch({ value })).toBeUndefined()
})
