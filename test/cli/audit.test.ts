// The audit at the terminal.

import { expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { codeOf } from '../support/engines.ts'
import { copyForEach, inkHere as ink, lines } from './support.ts'

const copy = copyForEach(async (url) => {
  await using store = await open({ url })
  const session = await store.session('support/1', { owner: 'user_ada' })
  await codeOf(store.as('user_bob').session('support/1', { owner: 'user_bob' }))
  await session.archive()
  await codeOf(session.append('note.made', 1))
})

test('inkfast audit shows what was refused, newest first, with actor and id', async () => {
  const { code, out, err } = await ink(['audit', copy.path])
  expect([code, err]).toEqual([0, ''])
  const [head, ...rows] = lines(out).map((line) => line.trim().split(/ {2,}/))
  expect(head).toEqual(['time (UTC)', 'code', 'times', 'actor', 'asked for', 'id'])
  expect(rows.map(([, refused]) => refused)).toEqual(['SESSION_ARCHIVED', 'SESSION_OWNED'])
  expect(rows[1]?.slice(2, 5)).toEqual(['1', 'user_bob', 'sessions'])
})

test('inkfast audit prints one refusal per line as JSON, and says when there is none', async () => {
  const { out } = await ink(['audit', copy.path, '--last', '1', '--json'])
  expect(lines(out).map((line) => JSON.parse(line))).toMatchObject([{ code: 'SESSION_ARCHIVED', noun: 'sessions', count: 1 }])
  expect((await ink(['audit', copy.path, '--tenant', 'nobody'])).code).toBe(3)
  expect((await ink(['audit', copy.path, '--last', '0'])).code).toBe(2)
})
