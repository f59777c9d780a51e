// Attachments: the intent before the bytes, the media type, the commit by a turn, and the sweep of orphans.

import { describe, expect, test } from 'vitest'
import type { Session, UncommittedAttachment } from '../../src/index.ts'
import { takeFileName } from '../../src/kernel/features/attachments/file-name.ts'
import { sniff } from '../../src/kernel/features/attachments/sniff.ts'
import { codeOf, engines, expectSound, layouts } from '../support/engines.ts'

/** A file that begins as a PNG of this size does. */
const png = (width: number, height: number, more = 10): Uint8Array => {
  const bytes = new Uint8Array(33 + more)
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52])
  const view = new DataView(bytes.buffer)
  view.setUint32(16, width)
  view.setUint32(20, height)
  bytes.fill(7, 33)
  return bytes
}

const JPEG = Uint8Array.from([...[0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0], ...[0xff, 0xc0, 0, 11, 8, 0, 20, 0, 30, 1, 1, 0x11, 0, 0xff, 0xd9]])

async function* chunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(size)
  for (let at = 0; at < bytes.length; at += size) {
    const part = bytes.subarray(at, at + size)
    // One buffer is used for every chunk, as a reader of a file does.
    buffer.set(part)
    yield buffer.subarray(0, part.length)
  }
}

const joined = async (stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const all: number[] = []
  for await (const chunk of stream) all.push(...chunk)
  return Uint8Array.from(all)
}

const states = async (session: Session) => (await session.attachments.list()).items.map(({ state }) => state)

describe.each(engines)('an attachment on $name', ({ open, openInTime }) => {
  test('an attachment has the SHA-256 of its bytes as id, its type, size, dimensions, label and name, and is read back', async () => {
    const store = await open()
    const session = await store.session('s')
    const bytes = png(640, 480, 3000)
    const file = await session.attachments.put(chunks(bytes, 100), { mediaType: 'image/png', label: 'chart', name: 'out/a chart?.png' })
    expect(file).toMatchObject({ mediaType: 'image/png', verified: true, size: 3033, width: 640, height: 480, label: 'chart' })
    expect(file).toMatchObject({ name: 'a chart_.png', state: 'stored', id: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect((await session.attachments.get(file.id))?.bytes).toEqual(bytes)
    expect(await session.attachments.stat(file.id)).toEqual(file)
    expect(await joined(session.attachments.stream(file.id))).toEqual(bytes)
    expect(await joined(session.attachments.stream(file.id, { from: 1, to: 4 }))).toEqual(bytes.slice(1, 4))
    // Identical bytes are one attachment, and the first intent wins.
    expect(await session.attachments.put(bytes, { label: 'other' })).toEqual({ ...file, at: expect.any(Number) })
    expect(await states(session)).toEqual(['stored'])
    expect((await store.blobs.list()).items).toHaveLength(1)
    const plain = await session.attachments.put(new TextEncoder().encode('hello'), { mediaType: 'text/plain; charset=utf-8' })
    expect(plain).toMatchObject({ verified: false, mediaType: 'text/plain; charset=utf-8', size: 5 })
    expect(await session.attachments.get('0'.repeat(64))).toBeUndefined()
    expect(await (await store.session('other')).attachments.get(file.id)).toBeUndefined()
    await expectSound(store)
  })

  test('bytes that do not match the intent are refused, and nothing stays', async () => {
    const store = await open()
    const session = await store.session('s')
    const bytes = png(1, 1)
    const mismatch = (member: string) => ({ code: 'ATTACHMENT_MISMATCH', details: { member } })
    const put = session.attachments.put
    for (const bytesOf of [() => bytes, () => chunks(bytes, 8)]) {
      await expect(put(bytesOf(), { mediaType: 'image/jpeg' })).rejects.toMatchObject(mismatch('the media type'))
      await expect(put(bytesOf(), { size: 9 })).rejects.toMatchObject(mismatch('the size'))
      await expect(put(bytesOf(), { size: 900 })).rejects.toMatchObject(mismatch('the size'))
      await expect(put(bytesOf(), { id: '0'.repeat(64) })).rejects.toMatchObject(mismatch('the SHA-256'))
    }
    const words = new TextEncoder().encode('no picture')
    for (const mediaType of ['image/png', 'image/jpg', 'application/pdf; a=b', 'audio/wav'])
      await expect(put(words, { mediaType })).rejects.toMatchObject({ ...mismatch('the media type'), details: { found: 'unknown' } })
    const fails = async function* () {
      yield bytes
      yield new Uint8Array(70_000)
      throw new Error('the network')
    }
    await expect(put(fails())).rejects.toThrow('the network')
    expect(await codeOf(put(bytes, { name: '../../etc/passwd' }))).toBe('FILE_NAME_INVALID')
    expect(await codeOf(put(bytes, { name: 'a\0b' }))).toBe('FILE_NAME_INVALID')
    expect(await codeOf(put('text' as never))).toBe('OPTION_INVALID')
    expect(await codeOf(put(bytes, { mediaType: 'picture' }))).toBe('OPTION_INVALID')
    expect(await states(session)).toEqual([])
    expect((await store.blobs.list()).items).toEqual([])
    expect(await store.attachments.sweep({ olderThan: 0 })).toEqual({ scanned: 0, reclaimed: 0, bytes: 0 })
    const { size } = await put(bytes, { size: bytes.length })
    expect(size).toBe(bytes.length)
    await expectSound(store)
  })

  test('a turn commits its attachments; without an intent it is refused and nothing is written', async () => {
    const store = await open()
    const session = await store.session('s')
    const other = await store.session('other')
    const file = await session.attachments.put(png(2, 2))
    const theirs = await other.attachments.put(png(3, 3))
    const { seq } = await store.head()
    const turn = { turn: 't', nodes: [{ id: 'a', parent: null, payload: { file: file.id } }] }
    await expect(session.commitTurn({ ...turn, attachments: [file, theirs] })).rejects.toMatchObject({
      code: 'ATTACHMENT_UNKNOWN',
      details: { attachment: theirs.id },
    })
    expect(await codeOf(session.commitTurn({ ...turn, attachments: ['x'] }))).toBe('OPTION_INVALID')
    expect((await store.head()).seq).toBe(seq)
    await session.commitTurn({ ...turn, attachments: [file.id] })
    const committed = await session.attachments.stat(file.id)
    expect(committed?.state).toBe('committed')
    // The first stamp is kept.
    await session.commitTurn({ turn: 'u', attachments: [file.id] })
    expect(await session.attachments.stat(file.id)).toEqual(committed)
    expect(await codeOf(session.attachments.forget(file.id))).toBe('ATTACHMENT_COMMITTED')
    expect(await other.attachments.forget(theirs.id)).toBe(true)
    expect(await other.attachments.forget(theirs.id)).toBe(false)
    await expectSound(store)
  })

  test('an attachment whose bytes are on their way is listed as intended, without an id', async () => {
    const store = await open()
    const session = await store.session('s')
    const [begun, rest] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow = async function* () {
      // The beginning shows the media type, before the intent.
      yield png(9, 9, 70_000)
      begun.resolve()
      await rest.promise
      yield Uint8Array.of(1)
    }
    const putting = session.attachments.put(slow(), { label: 'chart' })
    await begun.promise
    const listed = async () => {
      const files: UncommittedAttachment[] = []
      for await (const file of store.attachments.uncommitted()) files.push(file)
      return files
    }
    expect(await listed()).toEqual([{ session: session.id, state: 'intended', at: expect.any(Number), label: 'chart' }])
    rest.resolve()
    const file = await putting
    expect(await listed()).toEqual([{ session: session.id, ...file }])
    await expectSound(store)
  })

  test('an attachment whose intent was swept while its bytes came is stored all the same', async () => {
    const store = await open()
    const session = await store.session('s')
    const beginning = png(9, 9, 70_000)
    const slow = async function* () {
      yield beginning
      expect(await store.attachments.sweep({ olderThan: 0 })).toMatchObject({ reclaimed: 1 })
      yield Uint8Array.of(1)
    }
    const file = await session.attachments.put(slow(), { label: 'chart' })
    expect(file).toMatchObject({ label: 'chart', width: 9, size: beginning.length + 1, state: 'stored' })
    await session.commitTurn({ turn: 't', attachments: [file] })
    expect((await session.attachments.get(file.id))?.bytes).toHaveLength(beginning.length + 1)
    expect(await states(session)).toEqual(['committed'])
    await expectSound(store)
  })

  test('a sweep removes old orphans of all sessions, and never a committed attachment, also not one with the same bytes', async () => {
    const { store, pass } = await openInTime()
    const [one, two] = [await store.session('one'), await store.session('two')]
    const shared = png(5, 5)
    const kept = await one.attachments.put(shared)
    await one.commitTurn({ turn: 't', attachments: [kept] })
    const byHand = await one.attachments.put(png(6, 6))
    await one.attachments.commit([byHand.id])
    await two.attachments.put(shared)
    await two.attachments.put(png(7, 7))
    await pass(3 * 24 * 3_600_000)
    const recent = await two.attachments.put(png(8, 8), { label: 'new' })
    const listed: UncommittedAttachment[] = []
    for await (const file of store.attachments.uncommitted()) listed.push(file)
    expect(listed.map(({ session, width }) => [session, width])).toEqual([
      [two.id, 5],
      [two.id, 7],
      [two.id, 8],
    ])
    expect(listed.at(-1)).toEqual({ session: two.id, ...recent })
    const old: unknown[] = []
    for await (const { width } of store.attachments.uncommitted({ olderThan: '1d' })) old.push(width)
    expect(old).toEqual([5, 7])
    for await (const _ of store.tenant('other').attachments.uncommitted()) throw new Error('a file of another tenant')
    expect(await store.attachments.sweep({ olderThan: '1d' })).toEqual({ scanned: 3, reclaimed: 2, bytes: 86 })
    expect(await store.attachments.sweep({ olderThan: '1d' })).toEqual({ scanned: 1, reclaimed: 0, bytes: 0 })
    expect((await two.attachments.list()).items.map(({ id }) => id)).toEqual([recent.id])
    await store.collect({ grace: 0 })
    expect((await one.attachments.get(kept.id))?.bytes).toEqual(shared)
    expect((await two.attachments.get(recent.id))?.size).toBe(43)
    expect((await store.blobs.list()).items).toHaveLength(3)
    await one.delete({ reason: 'over' })
    expect(await codeOf(states(one))).toBe('SESSION_DELETED')
    await expectSound(store)
  })
})

describe.each(engines)('bytes that are put again on $name', ({ open, openInTime }) => {
  test('identical bytes that many callers put at once are one attachment', async () => {
    const store = await open()
    const session = await store.session('s')
    const files = await Promise.all(Array.from({ length: 10 }, () => session.attachments.put(png(4, 4))))
    expect(new Set(files.map(({ id }) => id)).size).toBe(1)
    expect(await states(session)).toEqual(['stored'])
    expect((await store.blobs.list()).items).toHaveLength(1)
    await expectSound(store)
  })

  test('bytes that are put again are as young as the second time, so that no sweep takes them before their turn', async () => {
    const { store, pass } = await openInTime()
    const session = await store.session('s')
    const first = await session.attachments.put(png(9, 9), { label: 'chart' })
    await pass(3 * 24 * 3_600_000)
    const again = await session.attachments.put(png(9, 9))
    expect(again).toMatchObject({ id: first.id, label: 'chart' })
    expect(await store.attachments.sweep({ olderThan: '1d' })).toMatchObject({ scanned: 1, reclaimed: 0 })
    await session.commitTurn({ turn: 't', attachments: [again] })
    expect(await states(session)).toEqual(['committed'])
    await pass(3 * 24 * 3_600_000)
    expect((await store.attachments.sweep({ olderThan: '1d' })).reclaimed).toBe(0)
    await expectSound(store)
  })
})

describe.each(layouts)('a sweep on $name', ({ open }) => {
  test('a sweep covers all tenants, and that of a tenant’s view only its own', async () => {
    const store = await open()
    for (const tenant of ['a', 'b']) await (await store.tenant(tenant).session('s')).attachments.put(png(1, 1))
    expect(await store.tenant('a').attachments.sweep({ olderThan: 0 })).toMatchObject({ reclaimed: 1 })
    expect(await store.attachments.sweep({ olderThan: 0 })).toMatchObject({ reclaimed: 1 })
  })
})

test('the dimensions of images and the types of files are read from their first bytes', () => {
  expect(sniff(png(3, 4))).toEqual({ mediaType: 'image/png', width: 3, height: 4 })
  expect(sniff(JPEG)).toEqual({ mediaType: 'image/jpeg', width: 30, height: 20 })
  const gif = Uint8Array.from([...new TextEncoder().encode('GIF89a'), 10, 0, 20, 0])
  expect(sniff(gif)).toEqual({ mediaType: 'image/gif', width: 10, height: 20 })
  const webp = new Uint8Array(30)
  webp.set(new TextEncoder().encode('RIFF    WEBPVP8X'))
  webp.set([9, 0, 0, 19, 0, 0], 24)
  expect(sniff(webp)).toEqual({ mediaType: 'image/webp', width: 10, height: 20 })
  for (const text of ['%PDF-1.7', 'junk\n%PDF-1.7']) expect(sniff(new TextEncoder().encode(text))).toEqual({ mediaType: 'application/pdf' })
  expect(sniff(Uint8Array.from([0x50, 0x4b, 5, 6]))).toEqual({ mediaType: 'application/zip' })
  expect(sniff(new TextEncoder().encode('hello'))).toBeUndefined()
  expect(sniff(new Uint8Array(0))).toBeUndefined()
})

test('a file name keeps its last part and its extension, and is cut at 255 bytes', () => {
  expect(takeFileName('C:\\x\\a:b.txt')).toBe('a_b.txt')
  expect(takeFileName('a..b.txt')).toBe('a..b.txt')
  const long = takeFileName(`${'ä'.repeat(200)}.png`)
  expect(new TextEncoder().encode(long).length).toBeLessThanOrEqual(255)
  expect(long.endsWith('.png')).toBe(true)
})
