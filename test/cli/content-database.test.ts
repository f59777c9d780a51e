// Content on a server at the terminal: state, conversations, memory, canvases and blobs, by a login that may only look.

import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { servedStore, TENANT_KEY } from './database-support.ts'
import { inkHere as ink } from './support.ts'

test('a login that may only read runs every command that only reads, and none that writes', async () => {
  const { node, reader } = await servedStore()
  let blob = ''
  let value = ''
  {
    await using store = await open({ url: node, tenantKey: TENANT_KEY })
    const session = await store.session('chat')
    await session.thread.add({ id: 'm', role: 'user', parts: [{ type: 'text', text: 'hi' }] })
    await session.commitTurn({ turn: 't', nodes: [{ id: 'n', parent: null, payload: { role: 'user', content: 'x'.repeat(5000) } }] })
    await session.canvas('plan').replace({ steps: [] })
    await session.core.set('human', 'Ada')
    await store.memory.remember('Ada prefers metric units')
    await store.state.set('cursor', { page: 7, text: 'y'.repeat(5000) })
    await store.snapshots.save('chat', { state: 'running' })
    blob = (await store.blobs.put(new Uint8Array(10))).digest
    value = await store.values.put({ a: 1 })
  }
  const env = { INKFAST_URL: reader, INKFAST_TENANT_KEY: TENANT_KEY }
  for (const words of [
    ['graph', 'chat'],
    ['threads'],
    ['threads', 'show', 'chat'],
    ['canvas'],
    ['canvas', 'show', 'chat', 'plan'],
    ['canvas', 'history', 'chat', 'plan'],
    ['memory'],
    ['memory', 'search', 'which units?'],
    ['memory', 'stats'],
    ['memory', 'export'],
    ['memory', 'core', '--session', 'chat'],
    ['state'],
    ['state', 'get', 'cursor'],
    ['snapshots'],
    ['snapshots', 'show', 'chat'],
    ['blobs'],
    ['values', 'get', value],
    ['collect', '--dry-run'],
  ]) {
    const { code, out, err } = await ink(words, env)
    expect({ words, code, err: code === 0 ? '' : err, isEmpty: out === '' }).toEqual({ words, code: 0, err: '', isEmpty: false })
  }
  expect((await ink(['blobs'], env)).out).toContain(blob)
  for (const words of [
    ['state', 'set', 'k', '1'],
    ['memory', 'add', 'text'],
    ['canvas', 'patch', 'chat', 'plan', '[{"op":"add","path":"/a","value":1}]'],
  ])
    expect((await ink(words, env)).code).toBe(3)
})
