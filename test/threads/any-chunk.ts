// Chunks of every type that the AI SDK knows, with any of their members.

import fc from 'fast-check'
import type { MessageChunk } from '../../src/index.ts'

const maybe = <T>(...values: readonly T[]) => fc.constantFrom(undefined, ...values)
const id = fc.constantFrom('1', '2')
const providerMetadata = maybe<object>({ p: { a: 1 } }, { q: { b: [1] } }, {})
const flag = maybe(true, false)
const title = maybe('one', 'two')
const about = { providerMetadata, toolMetadata: maybe({ h: 1 }, { g: 2 }), providerExecuted: flag, dynamic: flag, title }
const call = { toolCallId: fc.constantFrom('c1', 'c2') }
const named = { ...call, toolName: fc.constantFrom('w', 'v'), ...about }
const delta = fc.constantFrom('a', 'b ')
const url = fc.constant('https://a.b')
const mediaType = fc.constant('image/png')
const approvalId = fc.constantFrom('a1', 'a2')
const messageMetadata = maybe<object>({ a: { b: 1 } }, { a: { c: 2 }, l: [1] }, { l: null })

const members: Readonly<Record<string, Readonly<Record<string, fc.Arbitrary<unknown>>>>> = {
  'text-start': { id, providerMetadata },
  'text-delta': { id, delta, providerMetadata },
  'text-end': { id, providerMetadata, citations: maybe([{ source: { type: 'source', sourceType: 'url', id: 's', url: 'u' } }]) },
  'reasoning-start': { id, providerMetadata },
  'reasoning-delta': { id, delta, providerMetadata },
  'reasoning-end': { id, providerMetadata, citations: maybe([1]) },
  'tool-input-start': { ...named, inputEncoding: maybe('json', 'text') },
  'tool-input-delta': { ...call, inputTextDelta: fc.constantFrom('{"a":', '1', '"x', '}') },
  'tool-input-available': { ...named, input: fc.constantFrom<unknown>({ a: 1 }, 'z', null) },
  'tool-input-error': { ...named, input: maybe<unknown>({ a: 1 }, 'z'), errorText: fc.constant('bad') },
  'tool-approval-request': {
    ...call,
    ...{ approvalId, approvalDescriptor: maybe({ d: 1 }), inputSchemaInput: maybe<unknown>({ a: 0 }), reason: maybe('why') },
    ...{ isAutomatic: flag, signature: maybe('s') },
  },
  'tool-approval-response': { approvalId, approved: fc.boolean(), reason: maybe('so'), providerExecuted: flag, providerMetadata },
  'tool-output-available': { ...call, ...about, output: fc.constantFrom<unknown>(1, null, { o: 1 }), preliminary: flag },
  'tool-output-error': { ...call, ...about, errorText: fc.constant('no') },
  'tool-output-denied': call,
  custom: { kind: fc.constant('a.b'), providerMetadata },
  'source-url': { sourceId: id, url, title, providerMetadata },
  'source-document': { sourceId: id, mediaType, title: fc.constant('t'), filename: maybe('f.png'), providerMetadata },
  file: { url, mediaType, filename: maybe('f.png'), providerMetadata },
  'reasoning-file': { url, mediaType, providerMetadata },
  'steering-message': { id, parts: fc.constant([{ type: 'text', text: 'shorter' }]) },
  'data-x': { id: maybe('1', '2'), data: fc.constantFrom<unknown>(1, { a: 1 }, null), transient: flag, more: maybe(9) },
  'start-step': {},
  'finish-step': {},
  'reset-step': {},
  start: { messageId: maybe('m', 'n'), messageMetadata },
  finish: { finishReason: maybe('stop', 'length'), messageMetadata },
  'message-metadata': { messageMetadata },
  abort: { reason: maybe('enough') },
  error: { errorText: fc.constant('gone') },
}

/** As it comes over the wire: members that are undefined are not there. */
export const anyChunk: fc.Arbitrary<MessageChunk> = fc.constantFrom(...Object.keys(members)).chain((type) =>
  // biome-ignore lint/style/noNonNullAssertion: the type is one of the keys
  fc.record(members[type]!).map((taken) => JSON.parse(JSON.stringify({ type, ...taken })) as MessageChunk),
)
