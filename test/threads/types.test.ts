// The types of messages fit those of the AI SDK, under either meaning of an optional member.

import { convertToModelMessages, type UIMessage } from 'ai'
import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { compileSnippets } from '../support/docs.ts'
import { read } from '../support/project.ts'

test('messages are an array for the AI SDK, and JSON writes them as one', async () => {
  await using store = await open(':memory:')
  const session = await store.session('s')
  const part = { type: 'tool-refund', toolCallId: 'c', state: 'output-available', input: { order: 1 }, output: { paid: 1 } } as const
  const message: UIMessage = { id: 'a', role: 'assistant', metadata: { createdAt: 1 }, parts: [part] }
  await session.thread.add([{ id: 'q', role: 'user', parts: [{ type: 'text', text: 'refund' }] }, message])
  const messages = await session.thread.messages({ last: 1 })
  expect(messages.cursor).toBeTypeOf('string')
  expect(JSON.stringify(messages)).toBe(JSON.stringify([message]))
  expect(structuredClone(messages)).toEqual([message])
  expect((await convertToModelMessages(messages)).map(({ role }) => role)).toEqual(['assistant', 'tool'])
})

test('messages are assignable to UIMessage[] where an optional member may be undefined, too', async () => {
  const text = read('test/threads/message-types.ts').replace('../../src/index.ts', 'inkfast')
  const wrong = text.replace('const history: UIMessage[]', 'const history: string[]')
  const snippets = [
    { place: 'right.ts', text },
    { place: 'wrong.ts', text: wrong },
  ]
  const complaints = await compileSnippets(snippets, { exactOptionalPropertyTypes: false })
  // Sources of the package are compiled otherwise: users read its declarations.
  expect(complaints.filter((line) => !line.startsWith('src/'))).toEqual([expect.stringMatching(/^wrong\.ts .+TS2322/)])
})
