// Memory at the terminal.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { folder, inkHere as ink, lines, smallStore } from './support.ts'

let path: string

beforeEach(async () => {
  path = (await smallStore()).path
})

const json = async (words: readonly string[]) => JSON.parse((await ink([...words, '--json'])).out)

test('memory adds, searches with a breakdown, lists, counts, exports and forgets', async () => {
  expect((await ink(['memory', path])).err).toContain('No item matches in tenant main.')
  const added = await json([
    'memory',
    'add',
    path,
    'Ada prefers metric units',
    '--about',
    'user/ada',
    '--tag',
    'preference',
    '--ttl',
    '90d',
  ])
  expect(added).toMatchObject({ about: 'user/ada', tags: ['preference'], text: 'Ada prefers metric units' })
  await ink(['memory', 'add', path, 'Bob likes tea'])
  const found = await ink(['memory', 'search', path, 'which units?'])
  expect(found).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^0\.\d{3} {2}Ada prefers metric units\n .*words #1 .*age 0 d × 1\.000/),
  })
  expect((await json(['memory', 'search', path, 'units'])).hits[0].item.id).toBe(added.id)
  expect((await ink(['memory', 'search', path, 'xylophone'])).err).toContain('No item matches in tenant main.')
  expect((await json(['memory', path, '--about', 'user/ada'])).items).toHaveLength(1)
  expect(lines((await ink(['memory', path])).out).at(-1)).toContain('Ada prefers')
  expect(await json(['memory', 'stats', path])).toEqual({
    scopes: [
      { about: 'shared', items: 1, bytes: 13 },
      { about: 'user/ada', items: 1, bytes: 24 },
    ],
  })
  expect(lines((await ink(['memory', 'export', path])).out)).toHaveLength(2)
  expect((await ink(['memory', 'forget', path, added.id])).out).toContain('1 item forgotten')
  expect(await json(['memory', 'forget', path, '--about', 'shared', '--purge'])).toEqual({ purged: 1 })
  expect((await json(['memory', path])).items).toEqual([])
  expect(await ink(['memory', 'forget', path, added.id])).toMatchObject({ code: 3, err: expect.stringContaining('There is no item') })
})

test('memory core shows and sets blocks, and memory eval measures a file of your own', async () => {
  expect(await json(['memory', 'core', path, '--about', 'user/ada', '--block', 'human', '--set', 'Ada'])).toMatchObject({ version: 1 })
  expect((await ink(['memory', 'core', path, '--about', 'user/ada', '--block', 'human'])).out).toBe('human: Ada\n')
  expect(await ink(['memory', 'core', path])).toMatchObject({ code: 2 })
  const file = join(folder(), 'own.ndjson')
  expect(await ink(['memory', 'eval', file])).toMatchObject({ code: 3, err: expect.stringContaining('does not exist') })
  const rows = [
    { type: 'item', id: 'a', text: 'the red car' },
    { type: 'item', id: 'b', text: 'the blue boat' },
    { type: 'question', category: 'cars', text: 'which car?', expect: ['a'] },
  ]
  writeFileSync(file, rows.map((row) => JSON.stringify(row)).join('\n'))
  expect(await json(['memory', 'eval', file])).toMatchObject({ items: 2, questions: 1, overall: { fused: { at1: 1, mrr: 1 } } })
  expect((await ink(['memory', 'eval', file])).out).toContain('recall@10')
  writeFileSync(file, '{"type":"question","category":"x","text":"y","expect":["nobody"]}')
  expect(await ink(['memory', 'eval', file])).toMatchObject({ code: 2, out: '' })
})
