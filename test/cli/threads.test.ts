// Threads and their messages at the terminal.

import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { copyForEach, inkHere as ink, inkHereJson as inkJson, lines } from './support.ts'

const copy = copyForEach(async (url) => {
  await using store = await open({ url })
  const session = await store.session('chat', { owner: 'ada' })
  await session.thread.add({ id: 'q', role: 'user', parts: [{ type: 'text', text: 'how warm?\u001b[31m' }] })
  const call = {
    type: 'tool-weather',
    toolCallId: 'c',
    state: 'output-available',
    input: { city: 'Rome' },
    output: { high: 31, note: 'x'.repeat(200) },
  }
  await session.thread.add(
    { id: 'a', role: 'assistant', parts: [{ type: 'step-start' }, call, { type: 'text', text: '31 degrees' }] },
    { record: { interrupted: true } },
  )
  await session.threads.create({ title: 'side question' })
})

test('inkfast threads lists threads with their counts, by session, user and state', async () => {
  const { code, out, err } = await ink(['threads', copy.path])
  expect([code, err]).toEqual([0, ''])
  expect(lines(out)[0]).toMatch(/^thread +session +state +messages/)
  expect(out).toMatch(/ chat +open +0 .*side question/)
  const { items } = await inkJson(['threads', 'list', copy.path, '--session', 'chat', '--user', 'ada'])
  expect(items).toMatchObject([
    { title: 'side question', messages: 0 },
    { main: true, messages: 2 },
  ])
  expect((await ink(['threads', copy.path, '--state', 'archived'])).err).toContain('No thread matches in tenant main.')
  expect((await ink(['threads', copy.path, '--session', 'nobody'])).code).toBe(3)
})

test('inkfast threads show prints messages with their tool calls folded, and harmful characters escaped', async () => {
  const { code, out } = await ink(['threads', 'show', copy.path, 'chat'])
  expect(code).toBe(0)
  expect(out).toContain('how warm?')
  expect(out).not.toContain('\u001b[31m')
  expect(out).toContain('▸ weather({"city":"Rome"}) → {"high":31')
  expect(out).toContain('assistant a (interrupted)')
  expect(Math.max(...lines(out).map((line) => line.length))).toBeLessThan(160)
  const json = await inkJson(['threads', 'show', copy.path, 'chat', '--last', '1'])
  expect(json).toMatchObject({ messages: [{ id: 'a', role: 'assistant' }], records: { a: { interrupted: true } } })
  expect(await inkJson(['threads', 'show', copy.path, json.thread, '--before', 'a'])).toMatchObject({ messages: [{ id: 'q' }] })
})
