// Parts and chunks of types that this version does not know: kept as they are given, masked, and taken for nothing else.

import { convertToModelMessages } from 'ai'
import { describe, expect, test } from 'vitest'
import type { MessageChunk } from '../../src/index.ts'
import { engines, expectSound } from '../support/engines.ts'

const key = 'sk-proj-Zx81mQpR7tVbN3kLw9Yc2HdF5sGjA0eU4iO6'
const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)])

describe.each(engines)('unknown parts on $name', ({ open }) => {
  test('parts of an unknown type are stored as they are given, masked, and left alone by a repair', async () => {
    const store = await open()
    const { thread, id: session } = await store.session('s')
    const trick = JSON.parse('{"type":"__proto__","__proto__":{"tricked":true},"constructor":1}') as { readonly type: string }
    const parts = [
      { type: 'hologram', z: 1, of: { a: [null, { deep: deep(100) }] }, state: 'streaming', text: 7 },
      { type: 'teleport', state: 'input-available', toolCallId: 'c', approval: { id: 'ap-1' } },
      { type: 'toString', state: 'approval-requested', approval: { id: 'ap-1' } },
      trick,
      { type: 'text', text: 'known', state: 'done' },
    ]
    const approval = await store.approvals.request({ subject: 'x', key: 'ap-1', session })
    await store.approvals.decide(approval.id, { decision: 'approve' })
    await thread.add({ id: 'a', role: 'assistant', parts }, { record: { interrupted: true } })
    await thread.add({ id: 'secret', role: 'assistant', parts: [{ type: 'hologram', of: `use ${key} now` }] })
    const stored = await thread.get('a')
    expect(JSON.stringify(stored?.parts)).toBe(JSON.stringify(parts))
    expect(Object.getPrototypeOf(stored?.parts[3])).toBe(Object.prototype)
    expect(({} as { tricked?: boolean }).tricked).toBeUndefined()
    expect(JSON.stringify(await thread.get('secret'))).toMatch(/use \[.+\] now/)
    expect((await thread.repair()).changed).toEqual([])
    expect((await thread.record('a'))?.approvals).toBeUndefined()
    await thread.update('a', (message) => ({ ...message, metadata: 1 }))
    // The AI SDK passes over what it does not know.
    expect(await convertToModelMessages(await thread.messages())).toMatchObject([{ content: [{ text: 'known' }] }])
    await expectSound(store)
  })

  test('chunks of an unknown type are stored as parts, masked, and the known ones around them fold as before', async () => {
    const store = await open()
    const { thread } = await store.session('s')
    const begun: MessageChunk[] = [
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'one ' },
    ]
    const unknown: MessageChunk[] = [
      { type: 'hologram', of: { a: [1, null] }, state: 'streaming' },
      { type: 'text-shimmer', id: '0', delta: 'x' },
      { type: 'hologram-delta', delta: `use ${key} now` },
      { type: 'constructor' },
    ]
    // As parts, these would be taken for calls and texts.
    const alike: MessageChunk[] = [{ type: 'tool-input-paused', toolCallId: 'c' }, { type: 'text', text: 'x' }, { type: 'dynamic-tool' }]
    const stream = thread.stream('m')
    for (const chunk of [...begun, ...unknown, { type: 'text-delta', id: '0', delta: 'two' }, ...alike, { type: 'text-end', id: '0' }]) {
      await stream.write(chunk)
      await stream.flush()
    }
    await stream.close()
    const message = await thread.get('m')
    const masked = expect.objectContaining({ type: 'hologram-delta', delta: expect.stringMatching(/^use \[.+\] now$/) })
    expect(message?.parts).toEqual([
      { type: 'text', text: 'one two', state: 'done' },
      ...unknown.map((chunk) => (chunk.type === 'hologram-delta' ? masked : chunk)),
      ...alike.map((chunk) => ({ type: 'chunk', chunk })),
    ])
    expect((await thread.record('m'))?.interrupted).toBeUndefined()
    expect(await convertToModelMessages(await thread.messages())).toEqual([
      { role: 'assistant', content: [{ type: 'text', text: 'one two' }] },
    ])
    await thread.stream('m2').write({ type: 'hologram', of: JSON.parse('{"__proto__":{"tricked":true}}') as object })
    expect(({} as { tricked?: boolean }).tricked).toBeUndefined()
    await expectSound(store)
  })
})
