// Messages of a thread: added, read back exactly, replaced, removed, listed by every option, and refused when they are wrong.

import { readUIMessageStream, safeValidateUIMessages, type UIMessage, type UIMessageChunk } from 'ai'
import { describe, expect, test } from 'vitest'
import { codeOf, engines, expectSound } from '../support/engines.ts'
import { textOf } from './text-of.ts'

const said = (id: string, text: string, role: UIMessage['role'] = 'user') => ({ id, role, parts: [{ type: 'text', text }] })
const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])
const ids = (messages: readonly { readonly id: string }[]): string => messages.map(({ id }) => id).join(' ')

describe.each(engines)('messages on $name', ({ open }) => {
  test('a message reads back as it was added, with unknown members and the order of its keys', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    const odd = {
      zebra: { b: 1, a: [2, { z: 0, y: null }] },
      role: 'assistant',
      parts: [
        { type: 'step-start' },
        { text: 'a \ud83d\ude00 and half \ud83d', type: 'text', state: 'done', providerMetadata: { p: { z: 1, a: 2 } }, mine: '"' },
        { type: 'tool-search', toolCallId: 'c1', state: 'output-available', input: { q: 'x' }, output: [1], '10': 1, '9': 2 },
        { type: 'data-chart', id: 'd', data: { deep: Array.from({ length: 100 }).reduce<unknown>((inner) => [inner], 'bottom') } },
      ],
      id: 'm1',
      metadata: { minus: -0 },
    }
    await thread.add(said('m0', 'hi'))
    await thread.add(odd)
    const large = said('m2', 'long '.repeat(20_000))
    await thread.add(large)
    expect(JSON.stringify(await thread.get('m1'))).toBe(JSON.stringify(odd))
    expect(Object.is(((await thread.get('m1')) as unknown as typeof odd).metadata.minus, -0)).toBe(true)
    expect(await thread.get('m2')).toEqual(large)
    const all = await thread.messages({ last: 40 })
    expect(ids(all)).toBe('m0 m1 m2')
    expect((await safeValidateUIMessages({ messages: all })).success).toBe(true)
    expect(await thread.get('m9')).toBeUndefined()
    // Members that are undefined are left out, as in JSON text.
    await thread.add({ ...said('m3', 'x'), metadata: undefined })
    expect(Object.keys((await thread.get('m3')) ?? {})).toEqual(['id', 'role', 'parts'])
    await store.collect({ grace: 0 })
    expect(await thread.get('m2')).toEqual(large)
    await expectSound(store)
  })

  test('secrets in messages are masked, unless the caller wants them whole', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    const key = 'sk-proj-Zx81mQpR7tVbN3kLw9Yc2HdF5sGjA0eU4iO6'
    await thread.add(said('masked', `use ${key} now`))
    await thread.add(said('whole', `use ${key} now`), { redact: false })
    expect(JSON.stringify(await thread.get('masked'))).not.toContain(key)
    expect(JSON.stringify(await thread.get('whole'))).toContain(key)
    await expectSound(store)
  })

  test('messages are paged by the cursor on the array, from either end, and along a branch', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    await thread.add(Array.from({ length: 7 }, (_, i) => said(`m${i}`, 'x')))
    await thread.add(said('side', 'x'), { parent: 'm2' })
    await thread.remove('m5')
    const pages = async (options: Parameters<typeof thread.messages>[0]): Promise<string[]> => {
      const found: string[] = []
      for (let cursor: string | undefined; ; ) {
        const page = await thread.messages({ ...options, ...(cursor !== undefined && { cursor }) })
        found.push(ids(page))
        cursor = page.cursor
        if (cursor === undefined) return found
      }
    }
    expect(await pages({ last: 3 })).toEqual(['m4 m6 side', 'm1 m2 m3', 'm0'])
    expect(await pages({ first: 3 })).toEqual(['m0 m1 m2', 'm3 m4 m6', 'side'])
    expect(await pages({ last: 7 })).toEqual(['m0 m1 m2 m3 m4 m6 side'])
    expect(await pages({ last: 2, after: 'm0', before: 'm6' })).toEqual(['m3 m4', 'm1 m2'])
    expect(await pages({ last: 2, branch: 'side' })).toEqual(['m2 side', 'm0 m1'])
    expect(await pages({ first: 3, branch: 'side' })).toEqual(['m0 m1 m2', 'side'])
    for (const cursor of ['', 'x', '[]', '["a"]', '[null]', 7])
      expect(await codeOf(thread.messages({ cursor: cursor as string })), String(cursor)).toBe('CURSOR_INVALID')
  })

  test('a message with a known id replaces the stored one, and keeps its place', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    await thread.add([said('a', '1'), said('b', '2'), said('c', '3')])
    const { revision } = await thread.add(said('b', 'two'), { execution: 'e1' })
    expect((await thread.add(said('b', 'two'))).revision).toBe(revision)
    const updated = await thread.update('c', (message) => ({ ...message, parts: [...message.parts, { type: 'text', text: 'more' }] }))
    expect(updated.parts).toHaveLength(2)
    expect((await thread.messages()).map(({ parts }) => parts.map(textOf).join('+'))).toEqual(['1', 'two', '3+more'])
    await Promise.all(
      ['x', 'y', 'z'].map((text) => thread.update('a', (message) => ({ ...message, parts: [...message.parts, { type: 'text', text }] }))),
    )
    expect(((await thread.get('a'))?.parts ?? []).map(textOf).sort()).toEqual(['1', 'x', 'y', 'z'])
    await expectSound(store)
  })

  test('messages are listed from the end, the beginning, around a message, by execution and by branch', async () => {
    const store = await open()
    const session = await store.session('s')
    const { thread } = session
    await thread.add([said('q1', 'one'), said('a1', 'first')], { execution: 'e1' })
    await thread.add(said('a1b', 'second'), { parent: 'q1', trigger: 'regenerate-message', execution: 'e2' })
    await thread.add(said('q2', 'two'))
    await thread.add(said('q2b', 'three'), { parent: 'a1' })
    await thread.add(said('a2', 'four'), { execution: 'e2' })
    const other = await session.threads.create({ title: 'other' })
    await other.add(said('o1', 'elsewhere'), { execution: 'e1' })
    const list = async (options?: Parameters<typeof thread.messages>[0]) => ids(await thread.messages(options))
    expect(await list()).toBe('q1 a1 a1b q2 q2b a2')
    expect(await list({ last: 2 })).toBe('q2b a2')
    expect(await list({ first: 2 })).toBe('q1 a1')
    expect(await list({ before: 'q2' })).toBe('q1 a1 a1b')
    expect(await list({ before: 'q2', last: 1 })).toBe('a1b')
    expect(await list({ after: 'q2' })).toBe('q2b a2')
    expect(await list({ after: 'q1', before: 'q2b', first: 2 })).toBe('a1 a1b')
    expect(await list({ execution: 'e1' })).toBe('q1 a1')
    expect(await list({ execution: 'e2', last: 1 })).toBe('a2')
    expect(await list({ branch: 'q2' })).toBe('q1 a1b q2')
    expect(await list({ branch: 'a2' })).toBe('q1 a1 q2b a2')
    expect(await list({ branch: 'a2', last: 2 })).toBe('q2b a2')
    expect(await list({ branch: 'a2', first: 2 })).toBe('q1 a1')
    expect(await list({ branch: 'a2', before: 'q2b' })).toBe('q1 a1')
    expect(ids(await other.messages())).toBe('o1')
    await thread.remove('a1')
    expect(await list()).toBe('q1 a1b q2 q2b a2')
    expect(await list({ branch: 'a2' })).toBe('q1 q2b a2')
    expect(await thread.get('a1')).toBeUndefined()
    expect(await codeOf(thread.messages({ before: 'nobody' }))).toBe('MESSAGE_UNKNOWN')
    await expectSound(store)
  })

  test('a branch is found across many messages of other branches', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    await thread.add(said('root', 'r'))
    await thread.add(Array.from({ length: 200 }, (_, i) => said(`x${i}`, 'x')))
    await thread.add(said('leaf', 'l'), { parent: 'root' })
    expect(ids(await thread.messages({ branch: 'leaf' }))).toBe('root leaf')
    expect(await thread.messages({ branch: 'x199', last: 1000 })).toHaveLength(201)
    await expectSound(store)
  })

  test('a record stands beside a message, and does not count in the usage of the store', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    await thread.add(said('m', 'x', 'assistant'), { record: { model: 'big', usage: { inputTokens: 3, cachedInputTokens: 1 } } })
    expect(await thread.record('m', { finishReason: 'stop', cost: 0.25, durationMs: 12 })).toEqual({
      model: 'big',
      usage: { inputTokens: 3, cachedInputTokens: 1 },
      finishReason: 'stop',
      cost: 0.25,
      durationMs: 12,
    })
    expect(await thread.record('m')).toMatchObject({ finishReason: 'stop' })
    expect(await thread.record('nobody')).toBeUndefined()
    expect(await store.usage()).toEqual([])
    expect(await codeOf(thread.record('m', { cost: -1 }))).toBe('OPTION_INVALID')
    expect(await codeOf(thread.record('nobody', { cost: 1 }))).toBe('MESSAGE_UNKNOWN')
    const { seq } = await store.head()
    const wrong: readonly (readonly [object, string])[] = [
      [{ mispelt: 1 }, 'OPTION_INVALID'],
      [{ finishReason: 'done' }, 'OPTION_INVALID'],
      [{ aborted: false }, 'OPTION_INVALID'],
      [{ approvals: [] }, 'OPTION_INVALID'],
      [{ usage: { inputTokens: -1 } }, 'USAGE_INVALID'],
      [{ usage: { inputTokens: 1.5 } }, 'USAGE_INVALID'],
      [{ usage: { inputTokens: 1, totalTokens: -1 } }, 'USAGE_INVALID'],
      [{ usage: { inputTokens: 1, inputTokenDetails: { noCacheTokens: -1 } } }, 'USAGE_INVALID'],
      [{ usage: { inputToken: 1 } }, 'USAGE_INVALID'],
    ]
    for (const [record, code] of wrong) {
      expect(await codeOf(thread.record('m', record)), JSON.stringify(record)).toBe(code)
      expect(await codeOf(thread.add(said('n', 'x', 'assistant'), { record })), JSON.stringify(record)).toBe(code)
      expect(() => thread.stream('s', { record }), JSON.stringify(record)).toThrow(expect.objectContaining({ code }))
    }
    expect((await store.head()).seq).toBe(seq)
    const ofSdk = { inputTokens: 1, totalTokens: 1, inputTokenDetails: { cacheReadTokens: undefined }, raw: { whatever: -1 }, newer: 1 }
    await thread.record('m', { usage: ofSdk, finishReason: 'tool-calls', statistics: { own: -1 } })
    expect(await thread.record('m')).toMatchObject({
      finishReason: 'tool-calls',
      statistics: { own: -1 },
      usage: { raw: { whatever: -1 } },
    })
    await expectSound(store)
  })

  test('a message of the reader of the AI SDK is stored, in a turn too, with null where a tool returned nothing', async () => {
    const chunks: UIMessageChunk[] = [
      { type: 'text-start', id: '0' },
      { type: 'text-end', id: '0' },
      { type: 'tool-input-available', toolCallId: 'c', toolName: 't', input: undefined },
      { type: 'tool-output-available', toolCallId: 'c', output: undefined },
      { type: 'data-ping', data: undefined },
    ]
    const read = async (id: string) => {
      const stream = new ReadableStream<UIMessageChunk>({
        start(controller) {
          for (const chunk of [{ type: 'start', messageId: id } as const, ...chunks]) controller.enqueue(chunk)
          controller.close()
        },
      })
      let message: UIMessage | undefined
      for await (const one of readUIMessageStream({ stream })) message = one
      return message
    }
    const store = await open()
    const session = await store.session('s')
    await session.thread.add(await read('added'))
    await session.commitTurn({ turn: 't', messages: [await read('committed')] })
    expect((await session.commitTurn({ turn: 't', messages: [await read('committed')] })).repeated).toBe(true)
    await session.thread.add({ id: 'aborted', role: 'assistant', parts: [] })
    const messages = await session.thread.messages()
    expect(messages.map(({ id }) => id)).toEqual(['added', 'committed', 'aborted'])
    for (const { parts } of messages.slice(0, 2))
      expect(parts.slice(1)).toEqual([
        { type: 'tool-t', toolCallId: 'c', state: 'output-available', input: null, output: null },
        { type: 'data-ping', data: null },
      ])
    expect((await safeValidateUIMessages({ messages })).success).toBe(true)
    await expectSound(store)
  })

  test('a wrong message is refused with an error that names it, and nothing is written', async () => {
    const store = await open()
    const session = await store.session('s')
    const { thread } = session
    await thread.add(said('m', 'x'))
    const other = await session.threads.create()
    await other.add(said('theirs', 'x'))
    const head = await store.head()
    const tool = (more: object) => ({ id: 'bad', role: 'assistant', parts: [{ type: 'tool-t', toolCallId: 'c', ...more }] })
    const wrong: readonly (readonly [unknown, string, object?])[] = [
      [{ ...said('bad', 'x'), parts: [{ type: '' }] }, 'MESSAGE_INVALID'],
      [{ ...said('bad', 'x'), parts: [{ type: 'hologram', of: deep(600) }] }, 'DATA_INVALID'],
      [{ ...said('bad', 'x'), parts: [{ type: 'hologram', of: new Map() }] }, 'DATA_INVALID'],
      [{ ...said('bad', 'x'), parts: [{ type: 'hologram', of: () => 1 }] }, 'DATA_INVALID'],
      [{ id: 'bad', role: 'user', content: 'x' }, 'MESSAGE_INVALID'],
      [{ ...said('bad', 'x'), parts: [] }, 'MESSAGE_INVALID'],
      [{ ...said('bad', 'x'), parts: [{ type: 'text' }] }, 'MESSAGE_INVALID'],
      [{ ...said('bad', 'x'), role: 'tool' }, 'MESSAGE_INVALID'],
      [{ role: 'user', parts: [{ type: 'text', text: 'x' }] }, 'MESSAGE_INVALID'],
      ['text', 'MESSAGE_INVALID'],
      [[said('bad', '1'), said('bad', '2')], 'MESSAGE_INVALID'],
      [[said('good', '1'), said('theirs', '2')], 'MESSAGE_ELSEWHERE'],
      [said('theirs', 'x'), 'MESSAGE_ELSEWHERE'],
      [tool({ state: 'output-available', output: 1 }), 'TOOL_CALL_MISSING'],
      [tool({ state: 'input-available' }), 'MESSAGE_INVALID'],
      [tool({ state: 'finished' }), 'MESSAGE_INVALID'],
      [tool({ state: 'output-available', input: 1, output: 1, approval: { id: 'a' } }), 'MESSAGE_INVALID'],
      [tool({ state: 'input-available', input: 1, title: null }), 'MESSAGE_INVALID'],
      [{ ...said('bad', 'x'), parts: [{ type: 'text', text: 'x', state: 'over' }] }, 'MESSAGE_INVALID'],
      [{ ...said('bad', 'x'), parts: [{ type: 'text', text: 'x', providerMetadata: 'p' }] }, 'MESSAGE_INVALID'],
      [said('bad', 'x'), 'MESSAGE_PARENT_INVALID', { parent: 'nobody' }],
      [said('bad', 'x'), 'MESSAGE_PARENT_INVALID', { parent: 'bad' }],
      [said('bad', 'x'), 'MESSAGE_PARENT_INVALID', { parent: 'theirs' }],
      [said('m', 'y'), 'MESSAGE_PARENT_INVALID', { parent: null }],
      [{ ...said('bad', 'x'), metadata: new Map() }, 'DATA_INVALID'],
      [{ ...said('bad\0', 'x') }, 'KEY_INVALID'],
    ]
    for (const [message, code, options] of wrong) expect(await codeOf(thread.add(message, options)), JSON.stringify(message)).toBe(code)
    await expect(thread.add(said('theirs', 'x'))).rejects.toMatchObject({ details: { message: 'theirs', found: other.id } })
    // Messages of AI SDK 4 and of models.
    const old = { type: 'tool-invocation', toolInvocation: { state: 'call', toolCallId: 'c', toolName: 't', args: {} } }
    for (const one of [
      { id: 'bad', role: 'user', content: 'x' },
      { role: 'user', content: [{ type: 'text', text: 'x' }] },
      { role: 'tool', content: [] },
      { id: 'bad', role: 'assistant', content: '', parts: [old] },
    ])
      await expect(thread.add(one)).rejects.toThrow('thread.import')
    expect(await codeOf(thread.update('m', () => said('n', 'x')))).toBe('MESSAGE_INVALID')
    expect(await codeOf(thread.update('nobody', (message) => message))).toBe('MESSAGE_UNKNOWN')
    expect(await codeOf(thread.remove('nobody'))).toBe('MESSAGE_UNKNOWN')
    expect(await codeOf(other.remove('m'))).toBe('MESSAGE_ELSEWHERE')
    expect((await store.head()).seq).toBe(head.seq)
    await expectSound(store)
  })
})
