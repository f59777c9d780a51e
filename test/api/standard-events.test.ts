// The data of standard events, by their type. What compiles is in test/types/calls.ts.

import { describe, expect, test } from 'vitest'
import { catalogue, isStandard, type Json } from '../../src/index.ts'
import { engines } from '../support/engines.ts'
import { read } from '../support/project.ts'

test('the types of the standard events have the members that the catalogue lists', () => {
  const code = read('src/model/standard-events.ts')
  const typed = [...code.matchAll(/^ {2}'([a-z.-]+)': \{(.*)\}$/gm)].map(([, type, members]) => ({
    type,
    data: `{ ${[...(members as string).matchAll(/readonly (\w+\??):/g)].map(([, member]) => member).join(', ')} }`,
  }))
  expect(typed).toEqual(catalogue.map(({ type, data }) => ({ type, data })))
})

describe.each(engines)('on $name', (engine) => {
  test('the type of a standard event tells what its data is', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await session.append('tool.called', { tool: 'orders', call: 'c1', arguments: { order: 1 } })
    await session.append('order.placed', { order: 4711 })
    const { seq } = await session.append('message.sent', { message: 'm1', role: 'assistant', text: 'hello' })
    await store.erase({ seq, reason: 'request 81' })
    const tools: (string | undefined)[] = []
    const others: Json[] = []
    for await (const event of store.events()) {
      if (!isStandard(event)) others.push(event.type)
      else if (event.type === 'tool.called') tools.push(event.data?.tool)
      else if (event.type === 'message.sent') tools.push(event.data?.text)
    }
    expect(tools).toEqual(['orders', undefined])
    expect(others).toContain('order.placed')
    const page = await store.page({ types: ['tool.called', 'order.placed'] })
    expect(page.items.map((event) => (event.type === 'tool.called' ? event.data?.call : event.data))).toEqual(['c1', { order: 4711 }])
  })
})
