// Tests that compare the fold of chunks with the reader of an AI SDK: recorded streams, streams at random, and inputs cut anywhere.

import type { readUIMessageStream, UIMessageChunk } from 'ai'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withoutUndefined } from '../../src/kernel/features/threads/check-message.ts'
import { ChunkFold, type MessageChunk } from '../../src/kernel/features/threads/fold-chunks.ts'
import { parsePartialJson } from '../../src/kernel/features/threads/partial-json.ts'
import { rounds, SEED } from '../support/rounds.ts'
import { anyChunk } from './any-chunk.ts'
import { recordedStreams } from './recorded-streams.ts'

function folded(chunks: readonly MessageChunk[], message?: { readonly [member: string]: unknown }): unknown {
  const fold = new ChunkFold('m', message)
  for (const chunk of chunks) fold.write(structuredClone(chunk))
  return withoutUndefined(structuredClone(fold.message), 0)
}

const START: MessageChunk = { type: 'start', messageId: 'm' }
/** The reader of the AI SDK shows a message only when some chunks come; this is one of them. */
const SHOW: MessageChunk = { type: 'data-shown', data: 0 }

export type Reader = typeof readUIMessageStream

/** The reader is asked for when the tests run: it may have to be installed first. */
export function foldsLike(reader: () => Reader): void {
  async function oracle(chunks: readonly MessageChunk[], message?: object, errors: unknown[] = []): Promise<unknown> {
    const stream = new ReadableStream<UIMessageChunk>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(structuredClone(chunk) as UIMessageChunk)
        controller.close()
      },
    })
    const options = message ? { message: structuredClone(message) as never } : {}
    let last: unknown
    for await (const one of reader()({ stream, ...options, terminateOnError: false, onError: (error) => void errors.push(error) }))
      last = one
    return last
  }

  test.each(Object.entries(recordedStreams))(
    'the fold of the recorded stream %s equals that of the AI SDK, after every chunk',
    async (_, chunks) => {
      for (let n = 1; n <= chunks.length; n++) {
        const some = [START, ...chunks.slice(0, n), SHOW]
        expect(folded(some), `after ${n} chunks`).toEqual(withoutUndefined(await oracle(some), 0))
      }
      // A stream that is cut goes on in the message that was stored.
      const begun = folded([START, ...chunks]) as { readonly [member: string]: unknown }
      const more: MessageChunk[] = [
        { type: 'start-step' },
        { type: 'text-start', id: 'again' },
        { type: 'text-delta', id: 'again', delta: '…' },
      ]
      expect(folded(more, begun)).toEqual(withoutUndefined(await oracle(more, begun), 0))
    },
  )

  test('the fold of streams at random equals that of the AI SDK', async () => {
    await fc.assert(
      fc.asyncProperty(streams, async (chunks) => {
        const all = [START, ...chunks, SHOW]
        expect(folded(all)).toEqual(withoutUndefined(await oracle(all), 0))
      }),
      { numRuns: rounds(100, 5000), seed: SEED },
    )
  })

  test('chunks of every type in any order fold as the AI SDK folds them, also into a stored message', async () => {
    const some = fc.array(anyChunk, { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(some, some, async (first, more) => {
        const begun = await comparedWith([START], first)
        await comparedWith([], more, begun as { readonly [member: string]: unknown })
      }),
      { numRuns: rounds(150, 10_000), seed: SEED },
    )
  })

  test('a chunk that lacks a member is refused, and the message stays as it is', () => {
    const fold = new ChunkFold('m')
    const good: MessageChunk[] = [
      { type: 'text-start', id: '1' },
      { type: 'tool-input-start', toolCallId: 'c', toolName: 't' },
      { type: 'tool-approval-request', toolCallId: 'c', approvalId: 'a' },
    ]
    for (const chunk of good) fold.write(chunk)
    const before = structuredClone(fold.message)
    const bad: MessageChunk[] = [
      { type: 'text-start' },
      { type: 'text-delta', id: '1' },
      { type: 'text-delta', id: '1', delta: 7 },
      { type: 'tool-input-delta', toolCallId: 'c' },
      { type: 'tool-input-available', toolCallId: 'd', input: 1 },
      { type: 'tool-input-available', toolName: 't', input: 1 },
      { type: 'tool-output-error', toolCallId: 'c' },
      { type: 'tool-approval-response', approvalId: 'a' },
      { type: 'file', url: 'https://a.b' },
      { type: 'data-x', id: 1, data: 1 },
      { type: 'steering-message', id: 's' },
    ]
    for (const chunk of bad)
      expect(() => fold.write(chunk), JSON.stringify(chunk)).toThrow(expect.objectContaining({ code: 'CHUNK_INVALID' }))
    expect(fold.message).toEqual(before)
  })

  test('the input of a tool that is cut anywhere reads as the AI SDK reads it', async () => {
    // Keys without escapes: the AI SDK takes an escaped quote in a key for its end, until the input is whole.
    const key = fc.oneof(fc.constant('constructor'), fc.stringMatching(/^[a-z_ ]{0,6}$/))
    const leaves = [fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), fc.boolean(), fc.constant(null)]
    const input = fc.object({ key, maxDepth: 3, values: leaves }).chain((value) => {
      const text = JSON.stringify(value)
      return fc.nat(text.length).map((cut) => text.slice(0, cut))
    })
    await fc.assert(
      fc.asyncProperty(input, async (text) => {
        const chunks = [START, ...toolInput(text)]
        expect(folded(chunks), text).toEqual(withoutUndefined(await oracle(chunks), 0))
      }),
      { numRuns: rounds(200, 10_000), seed: SEED },
    )
    expect(parsePartialJson('{"a":[1,{"b":"x')).toEqual({ a: [1, { b: 'x' }] })
  })

  /** Folds the chunks that are not refused. The AI SDK must refuse the others too, and make the same of these. */
  async function comparedWith(head: MessageChunk[], chunks: readonly MessageChunk[], begun?: { readonly [member: string]: unknown }) {
    const accepted = head
    const fold = new ChunkFold('m', begun)
    for (const chunk of accepted) fold.write(chunk)
    for (const chunk of chunks) {
      try {
        fold.write(structuredClone(chunk))
        accepted.push(chunk)
      } catch {
        const errors: unknown[] = []
        await oracle([...accepted, chunk], begun, errors)
        expect(errors, JSON.stringify(chunk)).toContainEqual(expect.objectContaining({ name: 'AI_UIMessageStreamError' }))
      }
    }
    fold.write(SHOW)
    const made = withoutUndefined(structuredClone(fold.message), 0)
    expect(made).toEqual(withoutUndefined({ ...((await oracle([...accepted, SHOW], begun)) as object), id: 'm' }, 0))
    return made
  }
}

const toolInput = (text: string): MessageChunk[] => [
  { type: 'tool-input-start', toolCallId: 'c', toolName: 't' },
  { type: 'tool-input-delta', toolCallId: 'c', inputTextDelta: text },
]

const metadata = fc.option(fc.constantFrom({ p: { a: 1 } }, { q: { b: [1] } }), { nil: undefined })
const about = metadata.map((providerMetadata) => (providerMetadata ? { providerMetadata } : {}))
const id = fc.constantFrom('1', '2')

const block = fc.oneof(
  fc
    .record({
      kind: fc.constantFrom('text', 'reasoning'),
      id,
      texts: fc.array(fc.string(), { maxLength: 3 }),
      more: about,
      ends: fc.boolean(),
    })
    .map(({ kind, id, texts, more, ends }) => [
      { type: `${kind}-start`, id, ...more },
      ...texts.map((delta) => ({ type: `${kind}-delta`, id, delta })),
      ...(ends ? [{ type: `${kind}-end`, id, ...more }] : []),
    ]),
  fc
    .record({
      call: fc.constantFrom('c1', 'c2', 'c3'),
      dynamic: fc.boolean(),
      text: fc.json(),
      cut: fc.nat(20),
      steps: fc.nat(6),
      more: about,
    })
    .map(({ call, dynamic, text, cut, steps, more }) => {
      const about = { toolCallId: `${call}${dynamic ? 'd' : ''}`, ...(dynamic && { dynamic }) }
      const all = [
        { type: 'tool-input-start', toolName: 'w', ...about, ...more },
        { type: 'tool-input-delta', toolCallId: about.toolCallId, inputTextDelta: text.slice(0, cut) },
        { type: 'tool-input-delta', toolCallId: about.toolCallId, inputTextDelta: text.slice(cut) },
        { type: 'tool-input-available', toolName: 'w', input: { text }, ...about, ...more },
        { type: 'tool-approval-request', toolCallId: about.toolCallId, approvalId: `a-${about.toolCallId}`, reason: 'why' },
        { type: 'tool-output-available', output: [text], ...about, ...more, preliminary: cut > 10 ? true : undefined },
        { type: 'tool-output-error', errorText: 'no', ...about },
      ]
      return all.slice(0, steps + 1)
    }),
  fc.constantFrom<MessageChunk[]>(
    [{ type: 'start-step' }],
    [{ type: 'finish-step' }],
    [{ type: 'reset-step' }],
    [{ type: 'data-x', id: 'd', data: { n: 1 } }],
    [{ type: 'data-x', id: 'd', data: 2 }],
    [{ type: 'data-x', data: 3, transient: true }],
    [{ type: 'message-metadata', messageMetadata: { a: { b: 1 }, l: [1] } }],
    [{ type: 'message-metadata', messageMetadata: { a: { c: 2 }, l: [] } }],
    [{ type: 'file', url: 'data:,', mediaType: 'text/plain' }],
    [{ type: 'source-url', sourceId: 's', url: 'https://a.b', title: 't' }],
  ),
)
const streams = fc.array(block, { maxLength: 8 }).map((blocks) => blocks.flat() as MessageChunk[])
