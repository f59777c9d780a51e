// The message graph and the richer list of sessions at the terminal.

import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { copyForEach, inkHere as ink, inkHereJson as inkJson, lines } from './support.ts'

const copy = copyForEach(async (url) => {
  await using store = await open({ url })
  const session = await store.session('chat')
  await session.commitTurn({
    turn: 't',
    nodes: [
      { id: 'q1', parent: null, payload: { role: 'user', content: 'How do I ship\u001b[31m?' } },
      { id: 'a1', parent: 'q1', payload: { role: 'assistant', content: 'Test first.' } },
      { id: 'a2', parent: 'q1', payload: { role: 'assistant', content: 'x'.repeat(500) }, plugin: 'draft' },
    ],
    leaf: 'a1',
  })
  await (await session.run('turn')).finish(1)
})

const long = copyForEach(async (url) => {
  await using store = await open({ url })
  const straight = await store.session('straight')
  const names = Array.from({ length: 5 }, (_, i) => `n${i}`)
  const nodes = names.map((id, i) => ({ id, parent: names[i - 1] ?? null, payload: { role: 'user', content: id } }))
  await straight.commitTurn({ turn: 't', nodes: [...nodes, { id: 'other', parent: 'n2', payload: 1 }], leaf: 'n4' })
})

test('a straight conversation stays flat, branches are indented, and the last nodes are shown', async () => {
  const shown = async (...more: string[]) =>
    lines((await ink(['graph', long.path, 'straight', ...more])).out).map((line) => line.split(' {')[0])
  expect(await shown()).toEqual(['n0', 'n1', 'n2', '  n3', '  n4', '  other 1'].map((line) => expect.stringMatching(`^${line}`)))
  expect(await shown('--last', '2')).toEqual([expect.stringMatching('^n4'), 'other 1'])
  expect((await ink(['graph', long.path, 'straight', '--last', '2'])).err).toContain('There are more: raise --last.')
})

test('inkfast graph shows the tree of a session, a path, and JSON', async () => {
  const { code, out, err } = await ink(['graph', copy.path, 'chat'])
  expect(code).toBe(0)
  expect(lines(out)).toHaveLength(3)
  expect(lines(out)[0]).toContain('q1')
  expect(lines(out)[1]).toMatch(/^ {2}a1 .*← leaf/)
  expect(lines(out)[2]).toMatch(/^ {2}a2 \[draft\] .*…/)
  expect(out).not.toContain('\u001b[31m')
  expect(err).toContain('3 nodes in the session, revision 1.')
  expect(lines((await ink(['graph', 'show', copy.path, 'chat', '--path'])).out)).toHaveLength(2)
  expect(await inkJson(['graph', copy.path, 'chat', '--leaf', 'a2'])).toMatchObject({
    revision: 1,
    leaf: 'a1',
    nodes: [{ id: 'q1' }, { id: 'a2' }],
  })
  expect((await ink(['graph', copy.path, 'chat', '--frame', 'none'])).err).toContain("No node of frame 'none'.")
  expect((await ink(['graph', copy.path, 'nobody'])).code).toBe(3)
  expect((await ink(['graph', copy.path, 'chat', '--leaf', 'zzz'])).code).toBe(3)
})

test('inkfast sessions shows the first message, the counts and the last run of each session', async () => {
  const { out } = await ink(['sessions', copy.path])
  expect(lines(out)[0]).toMatch(/key +state +.*nodes +run/)
  expect(out).toMatch(/chat .* 3 +done/)
  expect(await inkJson(['sessions', copy.path])).toMatchObject({
    items: [{ counts: { nodes: 3, messages: 3 }, lastRun: { state: 'done' } }],
  })
  const shown = await inkJson(['sessions', 'show', copy.path, 'chat'])
  expect(shown).toMatchObject({ head: { revision: 1, leaf: 'a1' } })
  expect((await ink(['sessions', 'show', copy.path, 'chat'])).out).toContain('revision 1, leaf a1')
})
