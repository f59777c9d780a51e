// Memory at the terminal.

import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { later } from '../support/cleanups.ts'
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

test('memory backfill embeds with the embedder that is named, and search and eval use its vectors', async () => {
  const asked: { key: string | undefined; texts: readonly string[] }[] = []
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const { input } = JSON.parse(Buffer.concat(pieces).toString()) as { input: string[] }
      asked.push({ key: request.headers.authorization, texts: input })
      const data = input.map((text, index) => ({ index, embedding: /car|vehicle/.test(text) ? [1, 0.1] : [0.1, 1] }))
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ data }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  later(() => server.close())
  const { port } = server.address() as AddressInfo
  const model = ['--embedder', `http://127.0.0.1:${port}`, '--model', 'm']
  await ink(['memory', 'add', path, 'the red car'])
  await ink(['memory', 'add', path, 'a cup of tea'])
  expect(await ink(['memory', 'backfill', path])).toMatchObject({ code: 2, out: '' })
  expect(await ink(['memory', 'backfill', path, '--embedder', 'other'])).toMatchObject({ code: 2, out: '' })
  expect(await ink(['memory', 'backfill', path, '--embedder', 'hash', '--model', 'm'])).toMatchObject({ code: 2, out: '' })
  expect((await ink(['memory', 'backfill', path, ...model], { INKFAST_EMBEDDER_KEY: 'k' })).out).toContain(
    '2 items are embedded, 0 are pending',
  )
  expect(await json(['memory', 'backfill', path, ...model])).toEqual({ embedded: 0, pending: 0, removed: 0 })
  expect(asked).toContainEqual({ key: 'Bearer k', texts: ['the red car', 'a cup of tea'] })
  expect((await ink(['memory', 'search', path, 'which vehicle?'])).err).toContain('No item matches')
  const found = await json(['memory', 'search', path, 'which vehicle?', ...model])
  expect(found).toMatchObject({ legs: ['words', 'vectors'], hits: [{ item: { text: 'the red car' } }] })
  const file = join(folder(), 'own.ndjson')
  const rows = [
    { type: 'item', id: 'a', text: 'the red car' },
    { type: 'question', category: 'cars', text: 'which vehicle?', expect: ['a'] },
  ]
  writeFileSync(file, rows.map((row) => JSON.stringify(row)).join('\n'))
  const { overall } = await json(['memory', 'eval', file, ...model])
  expect([overall.words.at1, overall.vectors.at1, overall.fused.at1]).toEqual([0, 1, 1])
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
  const [red, blue, question] = rows
  for (const wrong of [
    [{ type: 'question', category: 'x', text: 'y', expect: ['nobody'] }],
    [red, blue],
    [red, { ...blue, id: 'a' }, question],
    [{ ...red, supersedes: 'b' }, blue, question],
    [{ ...red, supersedes: 'nobody' }, blue, question],
  ]) {
    writeFileSync(file, wrong.map((row) => JSON.stringify(row)).join('\n'))
    expect(await ink(['memory', 'eval', file]), JSON.stringify(wrong)).toMatchObject({ code: 2, out: '' })
  }
})
