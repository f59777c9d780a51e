// How a streamed answer ends: with an error, with an abort, or without a single part.

import { safeValidateUIMessages } from 'ai'
import { describe, expect, test } from 'vitest'
import type { MessageChunk, Thread } from '../../src/index.ts'
import { engines, expectSound } from '../support/engines.ts'

const text = (...pieces: readonly string[]): MessageChunk[] => [
  { type: 'text-start', id: '0' },
  ...pieces.map((delta) => ({ type: 'text-delta', id: '0', delta })),
]
const END: MessageChunk = { type: 'text-end', id: '0' }

async function streamed(thread: Thread, chunks: readonly MessageChunk[]): Promise<void> {
  await using stream = thread.stream('n')
  for (const chunk of chunks) await stream.write(chunk)
}

describe.each(engines)('the end of a stream on $name', ({ open }) => {
  test('errors and aborts mark a message as interrupted, with the reason', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    for (const [id, chunk] of [
      ['failed', { type: 'error', errorText: 'the model is gone' }],
      ['aborted', { type: 'abort', reason: 'stop' }],
    ] as const) {
      await using stream = thread.stream(id)
      for (const one of [...text('half'), END, chunk]) await stream.write(one)
    }
    expect(await thread.record('failed')).toMatchObject({ interrupted: true, error: 'the model is gone' })
    expect(await thread.record('aborted')).toMatchObject({ interrupted: true, aborted: 'stop' })
    await expectSound(store)
  })

  test('an answer that failed or ended before its first part is stored without parts, and its record tells how it ended', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    const start: MessageChunk = { type: 'start', messageId: 'theirs' }
    await streamed(thread, [start])
    expect(await thread.get('n')).toBeUndefined()
    await streamed(thread, [start, { type: 'error', errorText: 'too many requests' }])
    expect(await thread.get('n')).toEqual({ id: 'n', role: 'assistant', parts: [] })
    expect(await thread.record('n')).toMatchObject({ interrupted: true, error: 'too many requests' })
    expect((await safeValidateUIMessages({ messages: await thread.messages() })).success).toBe(true)
    // The next attempt ends well: nothing of the failure is left in the record.
    await streamed(thread, [start, ...text('fine'), END, { type: 'finish', finishReason: 'stop' }])
    expect(await thread.record('n')).toEqual({ finishReason: 'stop', completedAt: expect.any(Number), durationMs: expect.any(Number) })
    await thread.record('n', { cost: 1 })
    await using again = thread.stream('n', { restart: true })
    for (const chunk of [start, { type: 'finish', finishReason: 'length' }]) await again.write(chunk)
    await again.close()
    expect((await thread.get('n'))?.parts).toEqual([])
    expect(await thread.record('n')).toEqual({ finishReason: 'length', completedAt: expect.any(Number), durationMs: expect.any(Number) })
    await expectSound(store)
  })

  test('a stream that begins a stored message anew and ends without a part leaves it empty, as the reader of the AI SDK does', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    const other: MessageChunk = { type: 'start', messageId: 'other' }
    const ends: readonly (readonly [string, readonly MessageChunk[], { restart?: boolean }])[] = [
      ['another message', [other], {}],
      ['a step', [{ type: 'reset-step' }], {}],
      ['both', [other, ...text('new'), END, { type: 'reset-step' }], {}],
      ['the option', [{ type: 'start' }], { restart: true }],
    ]
    for (const [id, chunks, options] of ends) {
      await thread.add({ id, role: 'assistant', parts: [{ type: 'text', text: 'old', state: 'done' }] })
      {
        await using stream = thread.stream(id, options)
        for (const chunk of chunks) {
          await stream.write(chunk)
          await stream.flush()
        }
      }
      expect(await thread.get(id)).toEqual({ id, role: 'assistant', parts: [] })
      expect((await thread.record(id))?.interrupted).toBeUndefined()
    }
    // A stream without a chunk changes nothing.
    await thread.add({ id: 'kept', role: 'assistant', parts: [{ type: 'text', text: 'old' }] })
    await thread.stream('kept', { restart: true }).close()
    expect((await thread.get('kept'))?.parts).toHaveLength(1)
    await expectSound(store)
  })
})
