// Messages of AI SDK 4 on their way in, and the repair of what a crash or an import left open.

import { safeValidateUIMessages } from 'ai'
import { describe, expect, test } from 'vitest'
import { codeOf, engines, expectSound } from '../support/engines.ts'
import { stateOf } from './text-of.ts'

describe.each(engines)('imported and repaired messages on $name', ({ open }) => {
  test('messages of AI SDK 4 are converted on import, and a result without its call is refused', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    const invocation = { state: 'result', toolCallId: 'c1', toolName: 'weather', args: { city: 'Rome' }, result: { high: 31 } }
    await thread.import([
      {
        id: '1',
        role: 'user',
        content: 'hi',
        createdAt: new Date(0),
        experimental_attachments: [{ url: 'https://a.b/c.png', contentType: 'image/png', name: 'c.png' }],
      },
      { id: '2', role: 'assistant', content: 'warm', toolInvocations: [invocation], reasoning: 'hm', annotations: [1] },
      {
        id: '3',
        role: 'assistant',
        content: '',
        parts: [
          { type: 'step-start' },
          { type: 'tool-invocation', toolInvocation: invocation },
          { type: 'source', source: { sourceType: 'url', id: 's', url: 'https://a.b' } },
          { type: 'reasoning', reasoning: 'so', details: [] },
          {
            type: 'reasoning',
            reasoning: 'hm',
            details: [
              { type: 'text', text: 'hm', signature: 'sg' },
              { type: 'redacted', data: 'xx' },
            ],
          },
          { type: 'file', mimeType: 'text/plain', data: 'aGk=' },
        ],
      },
      {
        id: '4',
        role: 'assistant',
        content: [
          { type: 'text', text: 'let me see' },
          { type: 'tool-call', toolCallId: 'c2', toolName: 'look', args: {} },
        ],
      },
      { id: '5', role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c2', toolName: 'look', result: 7 }] },
      { id: '6', role: 'user', parts: [{ type: 'text', text: 'today' }] },
    ])
    const messages = await thread.messages()
    expect(messages.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '6'])
    expect((await safeValidateUIMessages({ messages })).success).toBe(true)
    expect(messages[1]?.parts[1]).toEqual({
      type: 'tool-weather',
      toolCallId: 'c1',
      state: 'output-available',
      input: { city: 'Rome' },
      output: { high: 31 },
    })
    const signed = (metadata: object, text = '') => ({ type: 'reasoning', text, state: 'done', providerMetadata: { anthropic: metadata } })
    expect(messages[2]?.parts).toEqual(expect.arrayContaining([signed({ signature: 'sg' }, 'hm'), signed({ redactedData: 'xx' })]))
    expect(messages[3]?.parts[1]).toMatchObject({ state: 'output-available', output: 7 })
    const { seq } = await store.head()
    expect(
      await codeOf(thread.import([{ id: '7', role: 'tool', content: [{ type: 'tool-result', toolCallId: 'nobody', result: 1 }] }])),
    ).toBe('TOOL_CALL_MISSING')
    const { args: _, ...without } = invocation
    expect(await codeOf(thread.import([{ id: '8', role: 'assistant', content: '', toolInvocations: [without] }]))).toBe('TOOL_CALL_MISSING')
    expect((await store.head()).seq).toBe(seq)
    await expectSound(store)
  })

  test('an odd message of AI SDK 4 is refused by name and nothing is written; bytes become base64, and an error keeps its detail', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    const { seq } = await store.head()
    const odd: readonly [path: string, message: object][] = [
      ['$.content', { content: 5 }],
      ['$.content', { role: 'tool', content: 'seven' }],
      ['$.content[0]', { role: 'tool', content: [null] }],
      ['$.content[1]', { content: ['fine', 7] }],
      ['$.parts[0]', { content: '', parts: [null] }],
      ['$.parts[0].toolInvocation', { content: '', parts: [{ type: 'tool-invocation' }] }],
      ['$.parts[0].source', { content: '', parts: [{ type: 'source', source: null }] }],
      ['$.parts[0].details[0]', { content: '', parts: [{ type: 'reasoning', details: [null] }] }],
      ['$.toolInvocations', { content: '', toolInvocations: 'one' }],
      ['$.toolInvocations[0]', { content: '', toolInvocations: [null] }],
      ['$.experimental_attachments[0]', { content: '', experimental_attachments: [null] }],
      ['$.createdAt', { content: '', createdAt: new Date(Number.NaN) }],
    ]
    for (const [path, message] of odd)
      await expect(thread.import([{ id: 'm', role: 'assistant', ...message }]), path).rejects.toMatchObject({
        code: 'MESSAGE_INVALID',
        details: { message: 'm', path },
      })
    expect(await codeOf(thread.import([null]))).toBe('MESSAGE_INVALID')
    expect(await codeOf(thread.import(undefined as never))).toBe('OPTION_INVALID')
    expect((await store.head()).seq).toBe(seq)
    const bytes = Uint8Array.from([104, 105])
    await thread.import([
      {
        id: '1',
        role: 'user',
        content: [
          { type: 'image', image: bytes, mimeType: 'image/png' },
          { type: 'file', data: bytes.buffer, mimeType: 'text/plain' },
          { type: 'image', image: new URL('https://a.b/c.png') },
        ],
      },
      { id: '2', role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'look', args: {} }] },
      { id: '3', role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c', isError: true, result: { why: 'gone' } }] },
    ])
    expect((await thread.get('1'))?.parts.map((part) => 'url' in part && part.url)).toEqual([
      'data:image/png;base64,aGk=',
      'data:text/plain;base64,aGk=',
      'https://a.b/c.png',
    ])
    expect((await thread.get('2'))?.parts[0]).toMatchObject({ state: 'output-error', errorText: '{"why":"gone"}' })
    await expectSound(store)
  })

  test('a repair ends what was cut off, and says what it changed', async () => {
    const store = await open()
    const { thread, id: session } = await store.session('s')
    const approval = await store.approvals.request({ subject: 'pay', key: 'ap-1', session })
    const tool = (toolCallId: string, more: object) => ({ type: 'tool-t', toolCallId, input: { n: 1 }, ...more })
    await thread.add({
      id: 'cut',
      role: 'assistant',
      parts: [
        { type: 'text', text: 'half', state: 'streaming' },
        tool('c1', { state: 'input-streaming', rawInput: '{"n":1' }),
        tool('c2', { state: 'input-available' }),
      ],
    })
    await thread.add({
      id: 'asks',
      role: 'assistant',
      parts: [
        tool('c3', { state: 'approval-requested', approval: { id: approval.id } }),
        tool('c4', { state: 'approval-requested', approval: { id: 'ap-1' } }),
      ],
    })
    await thread.add({ id: 'last', role: 'assistant', parts: [tool('c5', { state: 'input-available' })] })
    expect((await thread.record('asks'))?.approvals).toEqual([
      { toolCallId: 'c3', approval: approval.id, state: 'pending' },
      { toolCallId: 'c4', approval: approval.id, state: 'pending' },
    ])
    await store.approvals.decide(approval.id, { decision: 'approve' })
    const report = await thread.repair()
    expect(report.looked).toBe(3)
    expect(report.changed.map(({ message, changes }) => [message, changes.length])).toEqual([
      ['cut', 3],
      ['asks', 2],
    ])
    const messages = await thread.messages()
    expect(messages.flatMap(({ parts }) => parts.map(stateOf))).toEqual([
      'done',
      'output-error',
      'output-error',
      'approval-responded',
      'approval-responded',
      'input-available',
    ])
    expect((await safeValidateUIMessages({ messages })).success).toBe(true)
    expect((await thread.repair()).changed).toEqual([])
    await expectSound(store)
  })

  test('a repair and an erasure stop when their signal aborts, and what was not reached stays', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    const cut = (id: string) => ({ id, role: 'assistant', parts: [{ type: 'text', text: `half ${id}`, state: 'streaming' }] })
    await thread.add([cut('1'), cut('2'), cut('3')])
    expect(await codeOf(thread.repair({ signal: AbortSignal.abort() }))).toBe('ABORTED')
    expect(await codeOf(thread.erase('1', { reason: 'r', signal: AbortSignal.abort() }))).toBe('ABORTED')
    expect((await thread.get('1'))?.parts[0]).toMatchObject({ text: 'half 1', state: 'streaming' })
    expect(await codeOf(thread.repair({ signal: 'now' as never }))).toBe('OPTION_INVALID')
    const signal = new AbortController().signal
    expect((await thread.repair({ signal })).changed).toHaveLength(2)
    expect(await thread.erase('1', { reason: 'r', signal })).toMatchObject({ complete: true })
    await expectSound(store)
  })
})
