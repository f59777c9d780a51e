// Blobs, values and garbage collection at the terminal.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { open } from '../../src/index.ts'
import { folder, inkHere as ink, lines, smallStore } from './support.ts'

let path: string

beforeEach(async () => {
  path = (await smallStore()).path
})

const json = async (words: readonly string[]) => JSON.parse((await ink([...words, '--json'])).out)

test('blobs puts a file, lists it, and writes it to a new file', async () => {
  const place = folder()
  const [source, target] = [join(place, 'in.bin'), join(place, 'out.bin')]
  const bytes = Buffer.alloc(1_500_000, 'twice as large as small ')
  writeFileSync(source, bytes)
  expect((await ink(['blobs', path])).err).toContain('There is no blob.')
  const put = await ink(['blobs', 'put', path, source, '--kind', 'tool-state'])
  expect(put).toMatchObject({ code: 0, err: expect.stringContaining('--pin') })
  const digest = put.out.trim()
  const { items } = await json(['blobs', path])
  expect(items).toEqual([{ digest, bytes: bytes.length, stored: expect.any(Number), state: 'present', at: expect.any(Number) }])
  expect(items[0].stored).toBeLessThan(100_000)
  expect(lines((await ink(['blobs', path])).out).at(-1)).toContain(digest)
  expect((await ink(['blobs', 'get', path, digest, target])).out).toBe(`✓ 1.5 MB written to ${target}\n`)
  expect(readFileSync(target).equals(bytes)).toBe(true)
  expect(await ink(['blobs', 'get', path, digest, target])).toMatchObject({ code: 2, out: '' })
  expect(await ink(['blobs', 'get', path, '0'.repeat(64), join(place, 'none')])).toMatchObject({ code: 3, out: '' })
  expect(await ink(['blobs', 'put', path, join(place, 'none')])).toMatchObject({
    code: 3,
    out: '',
    err: expect.stringContaining('does not exist'),
  })
  expect(await json(['blobs', 'put', path, source, '--pin'])).toEqual({ digest, bytes: bytes.length, pinned: true })
  expect((await json(['blobs', path, '--last', '1'])).cursor).toBe(digest)
})

test('values prints a value and a part of it', async () => {
  const store = await open(path)
  const ref = await store.values.put({ messages: ['one', { two: 2 }] })
  await store.close()
  expect((await ink(['values', 'get', path, ref])).out).toBe('{"messages":["one",{"two":2}]}\n')
  expect((await ink(['values', 'get', path, ref, '--pointer', '/messages/1'])).out).toBe('{"two":2}\n')
  expect(await ink(['values', 'get', path, ref, '--pointer', '/nobody'])).toMatchObject({ code: 3, out: '' })
})

test('collect looks at a store that has blobs but no event', async () => {
  const unused = join(folder(), 'agents.db')
  const store = await open(unused)
  await store.blobs.put(new Uint8Array([1, 2, 3]))
  await store.close()
  expect((await ink(['collect', unused, '--grace', '0s'])).out).toContain('main: 0 nodes and 1 blob (3 B) deleted')
})

test('collect counts what nothing refers to, deletes it, and keeps what is pinned', async () => {
  const store = await open(path)
  const kept = await store.blobs.put(new Uint8Array(5000))
  await store.pin(kept)
  await store.blobs.put(new Uint8Array(7000))
  await store.tenant('acme').values.put(['garbage'.repeat(50)])
  await store.close()
  const counted = await json(['collect', path, '--dry-run', '--grace', '0s'])
  expect(counted.tenants.map(({ tenant, deleted }: { tenant: string; deleted: { blobs: number } }) => [tenant, deleted.blobs])).toEqual([
    ['acme', 0],
    ['main', 1],
  ])
  expect((await ink(['collect', path])).out).toContain('main: 0 nodes and 0 blobs (0 B) deleted')
  const { code, out } = await ink(['collect', path, '--grace', '0', '--tenant', 'main'])
  expect([code, out]).toEqual([0, '✓ main: 0 nodes and 1 blob (7.0 kB) deleted, 0 nodes and 1 blob (5.0 kB) kept\n'])
  expect((await json(['du', path])).rows).toMatchObject({ blobs: 1, nodes: expect.any(Number) })
})
