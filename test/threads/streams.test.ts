// Streamed messages: folded, written while they come, masked across pieces, and marked as interrupted when their writer stops.

import { safeValidateUIMessages } from 'ai'
import { describe, expect, test } from 'vitest'
import type { MessageChunk, Thread } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'
import { recordedStreams } from './recorded-streams.ts'
import { textOf } from './text-of.ts'

const text = (...pieces: readonly string[]): MessageChunk[] => [
  { type: 'text-start', id: '0' },
  ...pieces.map((delta) => ({ type: 'text-delta', id: '0', delta })),
]
const END: MessageChunk = { type: 'text-end', id: '0' }

async function streamed(thread: Thread, chunks: readonly MessageChunk[]): Promise<void> {
  await using stream = thread.stream('n')
  for (const chunk of chunks) await stream.write(chunk)
}

describe.each(engines)('streamed messages on $name', ({ name, open }) => {
  test('a recorded stream is stored as the message that it makes, in few writes', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    for (const [i, chunks] of Object.values(recordedStreams).entries()) {
      await using stream = thread.stream(`m${i}`, { execution: 'e', record: { model: 'big' } })
      for (const chunk of chunks) await stream.write(chunk)
    }
    const messages = await thread.messages()
    expect((await safeValidateUIMessages({ messages })).success).toBe(true)
    expect(messages[0]?.parts).toEqual([
      { type: 'step-start' },
      { type: 'text', text: 'The tower is 330 m high.', state: 'done', providerMetadata: { openai: { itemId: 'msg_1', annotations: [] } } },
      { type: 'source-url', sourceId: 's1', url: 'https://example.com', title: 'Tower' },
      { type: 'source-document', sourceId: 's2', mediaType: 'application/pdf', title: 'Plan', filename: 'plan.pdf' },
    ])
    const record = await thread.record('m0')
    expect(record).toMatchObject({ model: 'big', finishReason: 'stop' })
    expect(record?.interrupted).toBeUndefined()
    expect(await thread.messages({ execution: 'e' })).toHaveLength(messages.length)
    await expectSound(store)
  })

  test('a message that is being streamed holds everything up to the last write, and says that it is interrupted', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    const stream = thread.stream('m')
    for (const chunk of text('one ', 'two ', 'thr')) await stream.write(chunk)
    await stream.flush()
    // The last word may be the beginning of a secret.
    expect((await thread.get('m'))?.parts).toEqual([{ type: 'text', text: 'one two ', state: 'streaming' }])
    expect(await thread.record('m')).toMatchObject({ interrupted: true })
    await stream.write({ type: 'text-delta', id: '0', delta: 'ee' })
    await stream.flush()
    await stream.write(END)
    await stream.close()
    expect((await thread.get('m'))?.parts).toEqual([{ type: 'text', text: 'one two three', state: 'done' }])
    expect((await thread.record('m'))?.interrupted).toBeUndefined()
    expect(await codeOf(stream.write(END))).toBe('CHUNK_INVALID')
    // Each write holds only what is new.
    const sizes: number[] = []
    for await (const event of store.events({ types: ['thread.message.streamed'] })) sizes.push(JSON.stringify(event.data).length)
    expect(sizes.length).toBeGreaterThan(0)
    expect(Math.max(...sizes)).toBeLessThan(200)
    await expectSound(store)
  })

  test('a stream writes by itself while chunks come', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    await using stream = thread.stream('m')
    for (const chunk of text('one ', 'two ')) await stream.write(chunk)
    for await (const event of store.events({ types: ['thread.message.added'], live: true })) {
      expect(event.type).toBe('thread.message.added')
      break
    }
    expect((await thread.get('m'))?.parts[0]).toMatchObject({ text: 'one two ' })
  })

  test('a chunk that comes during a write is written too, without another chunk', async () => {
    let during: (() => void) | undefined
    const clock = {
      now: () => {
        const call = during
        during = undefined
        call?.()
        return Date.now()
      },
    }
    const store = await open(name === 'postgres' ? {} : { clock })
    const { thread } = await store.session('s')
    await using stream = thread.stream('m')
    for (const chunk of text('one ', 'two ')) await stream.write(chunk)
    during = () => void stream.write({ type: 'data-late', data: 1 })
    if (name === 'postgres') during()
    for await (const event of store.events({ types: ['thread.message.*'], live: true }))
      if ((await thread.get('m'))?.parts[1] !== undefined) {
        expect(event.type).toMatch(/added|streamed/)
        break
      }
  })

  test('calls that do not wait for one another keep their order', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    await thread.add({ id: 'm', role: 'assistant', parts: [{ type: 'step-start' }] })
    const stream = thread.stream('m')
    const numbers = Array.from({ length: 200 }, (_, i) => `${i} `)
    const chunks = [...text(...numbers), END]
    const writes: Promise<void>[] = []
    for (const chunk of chunks) {
      writes.push(stream.write(chunk))
      await null
    }
    await Promise.all(writes)
    await stream.close()
    expect(textOf((await thread.get('m'))?.parts[1])).toBe(numbers.join(''))
  })

  test('a part that is odd does not end the stream: a tool without a result, and a result before the input', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    const stream = thread.stream('m')
    await stream.write({ type: 'start', messageId: 'theirs' })
    await stream.write({ type: 'tool-input-available', toolCallId: 'c1', toolName: 'send' })
    await stream.write({ type: 'tool-output-available', toolCallId: 'c1', output: undefined })
    await stream.write({ type: 'data-ping' })
    await stream.flush()
    const parts = [
      { type: 'tool-send', toolCallId: 'c1', state: 'output-available', input: null, output: null },
      { type: 'data-ping', data: null },
    ]
    expect((await thread.get('m'))?.parts).toEqual(parts)
    expect((await safeValidateUIMessages({ messages: await thread.messages() })).success).toBe(true)
    await stream.write({ type: 'tool-input-start', toolCallId: 'c2', toolName: 'look' })
    await stream.write({ type: 'tool-output-available', toolCallId: 'c2', output: 1 })
    await stream.flush()
    expect((await safeValidateUIMessages({ messages: await thread.messages() })).success).toBe(true)
    // A second start of the same message begins nothing anew.
    await stream.write({ type: 'start', messageId: 'theirs', messageMetadata: { n: 1 } })
    for (const chunk of [...text('fine'), END]) await stream.write(chunk)
    await stream.close()
    expect(await thread.get('m')).toEqual({
      id: 'm',
      role: 'assistant',
      metadata: { n: 1 },
      parts: [
        ...parts,
        { type: 'tool-look', toolCallId: 'c2', state: 'output-available', input: null, output: 1 },
        { type: 'text', text: 'fine', state: 'done' },
      ],
    })
    await streamed(thread, [
      { type: 'tool-input-available', toolCallId: 'c3', toolName: 'pay', input: 1 },
      { type: 'tool-approval-request', toolCallId: 'c3', approvalId: 'a3' },
      { type: 'tool-output-error', toolCallId: 'c3', errorText: 'no' },
      { type: 'tool-input-available', toolCallId: 'c4', toolName: 'pay', input: 1 },
      { type: 'tool-output-denied', toolCallId: 'c4' },
      { type: 'tool-input-available', toolCallId: 'c5', toolName: 'pay', input: 1 },
      { type: 'tool-output-error', toolCallId: 'c5', errorText: 'no' },
      { type: 'tool-output-denied', toolCallId: 'c5' },
    ])
    // A repair makes of them what the AI SDK accepts.
    expect((await thread.repair()).changed.map(({ message, changes }) => [message, changes.length])).toEqual([['n', 4]])
    expect((await safeValidateUIMessages({ messages: await thread.messages() })).success).toBe(true)
    await expectSound(store)
  })

  test('a stream replaces no message that another writer has added meanwhile', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    const stream = thread.stream('m')
    for (const chunk of text('mine ')) await stream.write(chunk)
    const theirs = { id: 'm', role: 'assistant', parts: [{ type: 'text', text: 'theirs' }] }
    await thread.add(theirs)
    expect(await codeOf(stream.flush())).toBe('MESSAGE_CHANGED')
    expect(await codeOf(stream.close())).toBe('MESSAGE_CHANGED')
    expect(await thread.get('m')).toEqual(theirs)
    await expectSound(store)
  })

  test('a secret that comes in pieces is in no event', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    const key = 'sk-proj-Zx81mQpR7tVbN3kLw9Yc2HdF5sGjA0eU4iO6'
    const stream = thread.stream('m')
    for (const chunk of text('use ', ...(key.match(/.{1,5}/g) ?? []), ' now')) {
      await stream.write(chunk)
      await stream.flush()
    }
    await stream.write({ type: 'tool-input-start', toolCallId: 'c', toolName: 't' })
    for (const piece of `{"apiKey":"${key}","n":1}`.match(/.{1,7}/g) ?? []) {
      await stream.write({ type: 'tool-input-delta', toolCallId: 'c', inputTextDelta: piece })
      await stream.flush()
    }
    await stream.close()
    let all = ''
    for await (const event of store.events()) all += JSON.stringify(event)
    for (let at = 0; at + 16 <= key.length; at++) expect(all).not.toContain(key.slice(at, at + 16))
    expect(textOf((await thread.get('m'))?.parts[0])).toMatch(/^use \[.+\] now$/)
    // The same without masking is found, so the search above would find it.
    const plain = thread.stream('plain', { redact: false })
    for (const chunk of [...text(key), END]) await plain.write(chunk)
    await plain.close()
    let events = ''
    for await (const event of store.events()) events += JSON.stringify(event)
    expect(events).toContain(key)
    await expectSound(store)
  })

  test('a stream goes on in the stored message, or begins it anew', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    const call = { type: 'tool-ask', toolCallId: 'c', state: 'input-available', input: { q: 1 } }
    await thread.add({ id: 'm', role: 'assistant', parts: [call] })
    {
      await using stream = thread.stream('m')
      await stream.write({ type: 'tool-output-available', toolCallId: 'c', output: 'yes' })
      await stream.write({ type: 'finish', finishReason: 'tool-calls' })
    }
    expect((await thread.get('m'))?.parts).toEqual([{ ...call, state: 'output-available', output: 'yes' }])
    const cut = thread.stream('m', { restart: true })
    for (const chunk of text('new ')) await cut.write(chunk)
    await cut.close()
    expect((await thread.get('m'))?.parts).toEqual([{ type: 'text', text: 'new ', state: 'streaming' }])
    // A part that did not end was cut off.
    expect(await thread.record('m')).toMatchObject({ interrupted: true })
    await expectSound(store)
  })

  test('a wrong chunk is refused with an error that names it, and the stream goes on', async () => {
    const store = await open()
    const { thread, threads } = await store.session('s')
    await (await threads.create()).add({ id: 'theirs', role: 'assistant', parts: [{ type: 'text', text: 'x' }] })
    await thread.add({ id: 'question', role: 'user', parts: [{ type: 'text', text: 'x' }] })
    const stream = thread.stream('m')
    const wrong: readonly (readonly [unknown, string])[] = [
      [{ type: '' }, 'CHUNK_INVALID'],
      [{ type: 'text-delta', id: '9', delta: 'x' }, 'CHUNK_INVALID'],
      [{ type: 'tool-output-available', toolCallId: 'nobody', output: 1 }, 'TOOL_CALL_MISSING'],
      [{ type: 'tool-approval-response', approvalId: 'nobody', approved: true }, 'CHUNK_INVALID'],
      [{ type: 'tool-input-delta', toolCallId: 'nobody', inputTextDelta: '' }, 'CHUNK_INVALID'],
      ['text', 'CHUNK_INVALID'],
    ]
    for (const [chunk, code] of wrong) expect(await codeOf(stream.write(chunk as MessageChunk)), JSON.stringify(chunk)).toBe(code)
    for (const chunk of [...text('fine'), END]) await stream.write(chunk)
    await stream.close()
    expect((await thread.get('m'))?.parts[0]).toMatchObject({ text: 'fine' })
    expect(await codeOf(thread.stream('theirs').write({ type: 'start' }))).toBe('MESSAGE_ELSEWHERE')
    expect(await codeOf(thread.stream('question').write({ type: 'start' }))).toBe('MESSAGE_INVALID')
  })

  test('a stream of a message that another writer changed meanwhile is refused', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    const stream = thread.stream('m')
    for (const chunk of text('a ')) await stream.write(chunk)
    await stream.flush()
    await thread.update('m', (message) => ({ ...message, metadata: { edited: true } }))
    await stream.write({ type: 'text-delta', id: '0', delta: 'b' })
    expect(await codeOf(stream.close())).toBe('MESSAGE_CHANGED')
    expect((await thread.get('m'))?.metadata).toEqual({ edited: true })
    await expectSound(store)
  })

  test('a long answer is stored as a value, and reads back whole', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    const piece = 'word '.repeat(1500)
    const stream = thread.stream('m')
    for (const chunk of text(...Array.from({ length: 8 }, () => piece))) {
      await stream.write(chunk)
      await stream.flush()
    }
    await stream.write(END)
    await stream.close()
    expect(textOf((await thread.get('m'))?.parts[0])).toBe(piece.repeat(8))
    await store.collect({ grace: 0 })
    expect(textOf((await thread.get('m'))?.parts[0])).toBe(piece.repeat(8))
    await expectSound(store)
  })
})
