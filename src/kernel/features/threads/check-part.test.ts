// Parts that are accepted pass `validateUIMessages` of the AI SDK, and parts that the AI SDK makes are accepted.

import { safeValidateUIMessages } from 'ai'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rounds, SEED } from '../../../../test/support/rounds.ts'
import { anyChunk } from '../../../../test/threads/any-chunk.ts'
import { recordedStreams } from '../../../../test/threads/recorded-streams.ts'
import type { Json } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import { withoutUndefined } from './check-message.ts'
import { checkPart, isKnownType } from './check-part.ts'
import { ChunkFold, type MessageChunk } from './fold-chunks.ts'

const accepts = (part: unknown): boolean => {
  try {
    checkPart('m', part as Json, '$', (why, path) => refuse('MESSAGE_INVALID', { message: 'm', why, path }))
    return true
  } catch {
    return false
  }
}

const passes = async (part: unknown): Promise<boolean> =>
  (await safeValidateUIMessages({ messages: [{ id: 'm', role: 'assistant', parts: [part] }] })).success

function partsOf(chunks: readonly MessageChunk[]): readonly { readonly [member: string]: unknown }[] {
  const fold = new ChunkFold('m')
  for (const chunk of chunks)
    try {
      fold.write(structuredClone(chunk))
    } catch {
      // The chunk does not fit.
    }
  return (withoutUndefined(fold.message, 0) as typeof fold.message).parts
}

const MEMBERS = [
  ...[
    'type',
    'text',
    'state',
    'id',
    'toolCallId',
    'toolName',
    'input',
    'output',
    'errorText',
    'approval',
    'title',
    'filename',
    'url',
    'data',
  ],
  ...['mediaType', 'providerMetadata', 'callProviderMetadata', 'resultProviderMetadata', 'toolMetadata', 'preliminary', 'rawInput', 'kind'],
  ...['inputEncoding', 'providerExecuted', 'sourceId', 'dynamic', 'parts', 'providerReference'],
]
const STATES = ['input-streaming', 'input-available', 'approval-requested', 'approval-responded', 'output-available', 'output-error']
const value = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, 1, '', 'x', true, false, [], {}, { p: 1 }, { p: { q: 1 } }, { id: 'a' }, 'streaming', 'json'),
  fc.constantFrom<unknown>(...STATES, 'output-denied', { id: 'a', approved: true }, { id: 'a', approved: false, reason: 'r' }),
)

describe('the check of parts', () => {
  test('a part that is accepted passes validateUIMessages, whatever member was changed', async () => {
    const changes = fc.array(fc.tuple(fc.constantFrom(...MEMBERS), value), { maxLength: 2 })
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(fc.array(anyChunk, { minLength: 1, maxLength: 8 }), changes, async (chunks, changed) => {
        for (const part of partsOf(chunks)) {
          const given = withoutUndefined({ ...part, ...Object.fromEntries(changed) }, 0) as { readonly type?: unknown }
          // The AI SDK refuses what it does not know.
          if (!accepts(given) || !isKnownType(String(given.type))) continue
          accepted++
          expect(await passes(given), JSON.stringify(given)).toBe(true)
        }
      }),
      { numRuns: rounds(300, 10_000), seed: SEED },
    )
    expect(accepted).toBeGreaterThan(50)
  })

  test('the parts of recorded streams are accepted', () => {
    for (const part of Object.values(recordedStreams).flatMap(partsOf)) expect(accepts(part), JSON.stringify(part)).toBe(true)
  })
})
