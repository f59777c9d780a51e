// Key-value state and snapshots at the terminal.

import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { copyForEach, inkHere as ink, inkHereJson as inkJson, lines } from './support.ts'

const copy = copyForEach(async (url) => {
  await using store = await open({ url })
  for (const [key, value] of Object.entries({ 'a/1': { page: 1 }, 'a/2': 'two\u001b[31m', 'b/1': 3 })) await store.state.set(key, value)
  const session = await store.session('exec-1')
  await session.state.set('own', true)
  await session.append('step.completed', { step: 1 })
  await store.snapshots.save('exec-1', { state: 'running', step: 'fetch', outputs: { fetch: 42 } })
})

test('inkfast state lists entries, by prefix and page by page, and harmful characters are escaped', async () => {
  const { code, out, err } = await ink(['state', copy.path, '--prefix', 'a/'])
  expect([code, err]).toEqual([0, ''])
  expect(lines(out)[0]).toMatch(/^key +revision +value/)
  expect(out).toContain('{"page":1}')
  expect(out).not.toContain('\u001b[31m')
  await using store = await open({ url: copy.path })
  await store.state.set('b/1', Uint8Array.from([1, 2, 3]))
  const first = await inkJson(['state', copy.path, '--last', '2'])
  expect(first).toMatchObject({ items: [{ key: 'a/1', value: { page: 1 } }, { key: 'a/2' }], after: 'a/2' })
  expect(await inkJson(['state', copy.path, '--after', 'a/2'])).toMatchObject({ items: [{ key: 'b/1', base64: 'AQID' }] })
  expect((await ink(['state', copy.path, '--prefix', 'x'])).err).toContain('No entry matches.')
  expect(await inkJson(['state', copy.path, '--session', 'exec-1'])).toMatchObject({ items: [{ key: 'own', value: true }] })
})

test('inkfast state gets, sets and deletes an entry, and refuses a wrong revision', async () => {
  expect((await ink(['state', 'get', copy.path, 'a/1'])).out.trim()).toBe('{"page":1}')
  expect((await ink(['state', 'get', copy.path, 'nobody'])).code).toBe(3)
  const { revision } = await inkJson(['state', 'set', copy.path, 'new', '{"n":1}', '--expect', '0', '--ttl', '1h'])
  expect((await ink(['state', 'set', copy.path, 'new', '2', '--expect', '0'])).code).toBe(5)
  expect((await ink(['state', 'set', copy.path, 'new', 'no json'])).code).toBe(2)
  expect((await ink(['state', 'delete', copy.path, 'new', '--expect', String(revision)])).out).toContain('new is deleted')
  expect((await ink(['state', 'delete', copy.path, 'new'])).out).toContain('nothing was written')
})

test('inkfast snapshots lists snapshots and shows one', async () => {
  expect((await ink(['snapshots', copy.path])).out).toMatch(/exec-1 .*fetch/)
  expect(await inkJson(['snapshots', 'show', copy.path, 'exec-1'])).toMatchObject({ state: 'running', outputs: { fetch: 42 } })
  expect((await ink(['snapshots', 'show', copy.path, 'exec-1'])).out).toContain('"fetch": 42')
  expect((await ink(['snapshots', 'show', copy.path, 'nobody'])).code).toBe(3)
})
