// Streams through the store, on every engine: large blobs go in and come out in pieces, whole or in part, with flat memory.

import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { codeOf, layouts, openIn, tempDatabase, tempFile } from '../../../test/support/engines.ts'
import { LONG } from '../../../test/support/rounds.ts'
import { memoryBackend } from '../../backends/memory/backend.ts'
import { nodeEnvironment } from '../../environment.ts'
import { MAIN } from '../../model/ids.ts'
import type { Backend } from '../../ports/backend.ts'
import { createEngine } from '../engine.ts'
import { features } from '../features.ts'
import type { Scope } from '../wiring/scope.ts'
import { readChunks } from './blob-stream.ts'
import { getBlob, putBlob } from './blobs.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const UNKNOWN = 'ab'.repeat(32)
const MiB = 1024 * 1024

/** A stream of this many bytes in chunks of an odd size, the same for the same seed. The buffer is used again for every chunk. */
async function* generated(bytes: number, seed = 1): AsyncGenerator<Uint8Array> {
  const chunk = new Uint8Array(100_003)
  for (let at = 0; at < bytes; at += chunk.length) {
    for (let i = 0; i < chunk.length; i += 61) chunk[i] = Math.imul(at + i, 2654435761 + seed) >>> 24
    yield chunk.subarray(0, Math.min(chunk.length, bytes - at))
  }
}

async function gathered(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(Uint8Array.from(chunk))
  return new Uint8Array(Buffer.concat(parts))
}

describe.each(layouts)('a stream on $name', (engine) => {
  test('a stream that was put is read whole, in parts and as a stream', async () => {
    const store = await engine.open()
    await store.session('s')
    const size = 2 * MiB + 12_345
    const bytes = await gathered(generated(size))
    const ref = await store.blobs.put(generated(size), { kind: 'tool-state' })
    expect(ref).toEqual({ digest: sha256(bytes), bytes: size, kind: 'tool-state' })
    expect(sha256(await store.blobs.get(ref))).toBe(ref.digest)
    expect(sha256(await gathered(store.blobs.stream(ref.digest)))).toBe(ref.digest)
    for (const [from, to] of [
      [0, 10],
      [0, size],
      [MiB - 5, MiB + 5],
      [MiB, 2 * MiB],
      [2 * MiB - 1, 2 * MiB + 1],
      [size - 3, size + 100],
      [size, size + 1],
      [5 * MiB, 6 * MiB],
      [7, 7],
    ] as const) {
      const wanted = sha256(bytes.slice(from, to))
      expect(sha256(await store.blobs.get(ref, { from, to })), `${from} to ${to}`).toBe(wanted)
      expect(sha256(await gathered(store.blobs.stream(ref, { from, to }))), `${from} to ${to}`).toBe(wanted)
    }
    expect(sha256(await store.blobs.get(ref, { from: MiB }))).toBe(sha256(bytes.slice(MiB)))
    // The same bytes have the same name, however they come.
    expect(await store.blobs.put(bytes)).toEqual({ digest: ref.digest, bytes: size })
    expect(await store.blobs.put(generated(size))).toEqual({ digest: ref.digest, bytes: size })
    const small = await store.blobs.put(generated(1000))
    expect(await store.blobs.put(generated(1000))).toEqual(small)
    expect(await store.blobs.get(small, { from: 990 })).toEqual((await gathered(generated(1000))).slice(990))
    expect((await store.blobs.put(generated(MiB))).bytes).toBe(MiB)
    expect((await store.blobs.put(generated(0))).bytes).toBe(0)
    expect((await store.measure()).rows.blobs).toBe(4)
  })

  test('a stream that fails, or has something else than bytes in it, leaves no blob', async () => {
    const store = await engine.open()
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield* generated(2 * MiB)
      throw new Error('the source broke')
    }
    async function* wrong(): AsyncGenerator<Uint8Array> {
      yield* generated(2 * MiB)
      yield 'text' as unknown as Uint8Array
    }
    await expect(store.blobs.put(failing())).rejects.toThrow('the source broke')
    expect(await codeOf(store.blobs.put(wrong()))).toBe('OPTION_INVALID')
    expect((await store.measure()).rows.blobs).toBe(0)
    for (const range of [{ from: -1 }, { from: 0.5 }, { from: 3, to: 2 }, { to: Number.NaN }, { begin: 1 }, 7])
      expect(await codeOf(store.blobs.get(UNKNOWN, range as object))).toBe('OPTION_INVALID')
    expect(await codeOf(store.blobs.get(UNKNOWN, { from: 5 * MiB }))).toBe('BLOB_UNKNOWN')
    expect(await codeOf(gathered(store.blobs.stream(UNKNOWN, { from: 5 * MiB })))).toBe('BLOB_UNKNOWN')
  })

  test('bytes come back the same, whatever kind, hints and profile they were put with', async () => {
    const store = await engine.open()
    const text = (n: number, size: number): Uint8Array => bytesOf(`${n} the same words again and again `.repeat(size / 20))
    let n = 0
    for (const options of [
      { kind: 'module', profile: 'compact' },
      { kind: 'checkpoint-manifest', profile: 'balanced' },
      { hints: ['compressible', 'inline-preferred'] },
      { hints: ['inline-preferred'] },
      { kind: 'generic', hints: ['compressible'], profile: 'low-latency' },
    ] as const)
      for (const size of [60, 2000, 10_000, 2_500_000]) {
        const bytes = text(n++, size)
        const ref = await store.blobs.put(bytes, options)
        expect(sha256(await store.blobs.get(ref))).toBe(sha256(bytes))
      }
    expect(await codeOf(store.blobs.put(bytesOf('x'), { profile: 'tiny' as 'compact' }))).toBe('OPTION_INVALID')
  })
})

describe.each(layouts)('a missing blob on $name', (engine) => {
  test('a blob that a collection deletes while it is streamed is missing, not damaged', async () => {
    const store = await engine.open()
    await store.session('s')
    const blob = await store.blobs.put(generated(3 * MiB))
    const chunks = store.blobs.stream(blob)[Symbol.asyncIterator]()
    expect((await chunks.next()).value).toHaveLength(MiB)
    expect((await store.collect({ grace: 0 })).deleted.blobs).toBe(1)
    expect(await codeOf(chunks.next())).toBe('BLOB_UNKNOWN')
  })
})

const scopeOn = async (backend: Backend): Promise<Scope> => {
  const engine = await createEngine(backend, nodeEnvironment, {}, features, new AbortController().signal, () => {})
  return { engine, tenant: MAIN, actor: '' }
}

test('a range whose pieces are lost is damaged, not empty and not zeros', async () => {
  const backend = memoryBackend(nodeEnvironment)
  let lost = -1
  const scope = await scopeOn({
    ...backend,
    blobs: { ...backend.blobs, get: async (tenant, digest, n) => (n === lost ? undefined : backend.blobs.get(tenant, digest, n)) },
  })
  const { digest } = await putBlob(scope, generated(3 * MiB))
  lost = 1
  for (const range of [{ from: MiB, to: MiB + 4 }, { from: MiB + 7 }, { from: 5, to: 2 * MiB }, {}]) {
    expect(await codeOf(getBlob(scope, digest, range))).toBe('BLOB_DAMAGED')
    expect(await codeOf(gathered(readChunks(scope, digest, { from: 0, to: Number.MAX_SAFE_INTEGER, ...range })))).toBe('BLOB_DAMAGED')
  }
  expect(await getBlob(scope, digest, { from: 3 * MiB, to: 4 * MiB })).toHaveLength(0)
})

test('a stream is put and read one piece at a time', async () => {
  const backend = memoryBackend(nodeEnvironment)
  const size = 64 * MiB
  let [pulled, added, fetched, most] = [0, 0, 0, 0]
  const watched: Backend = {
    ...backend,
    blobs: {
      ...backend.blobs,
      write: async (...given) => {
        const writer = await backend.blobs.write(...given)
        return {
          ...writer,
          add: async (piece, digest) => {
            most = Math.max(most, pulled - added)
            await writer.add(piece, digest)
            added += piece.length
          },
        }
      },
      get: (...given) => {
        fetched++
        return backend.blobs.get(...given)
      },
    },
  }
  const scope = await scopeOn(watched)
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of generated(size)) {
      pulled += chunk.length
      yield chunk
    }
  }
  const ref = await putBlob(scope, counted())
  expect(most).toBeLessThan(1.2 * MiB)
  let read = 0
  for await (const chunk of readChunks(scope, ref.digest, { from: 0, to: size })) {
    read += chunk.length
    expect(fetched).toBe(Math.ceil(read / MiB))
  }
  expect([read, fetched]).toEqual([size, 64])
})

describe.skipIf(!LONG).each([
  ['one file', tempFile],
  ['a database', tempDatabase],
] as const)('a large stream in %s', (what, place) => {
  // The heap does not count buffers, so the resident memory is measured.
  test(`memory stays flat while 1 GiB is put and read in ${what}`, async () => {
    const store = await openIn(await place())
    const size = 1024 * MiB
    await store.blobs.put(generated(8 * MiB, 2))
    const before = process.memoryUsage.rss()
    let most = 0
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss() - before)
    }, 20)
    const ref = await store.blobs.put(generated(size))
    const hash = createHash('sha256')
    for await (const chunk of store.blobs.stream(ref)) hash.update(chunk)
    clearInterval(watch)
    expect({ bytes: ref.bytes, digest: hash.digest('hex') }).toEqual({ bytes: size, digest: ref.digest })
    expect(most / MiB).toBeLessThan(256)
  }, 1_200_000)
})

test('a blob that is larger than the limit is refused, as bytes and as a stream, and nothing is left of it', async () => {
  const backend = memoryBackend(nodeEnvironment)
  const scope = await scopeOn(backend)
  const limit = 2 * MiB
  const refused = { code: 'BLOB_TOO_LARGE', kind: 'invalid', details: { bytes: limit + 1, limit } }
  await expect(putBlob(scope, new Uint8Array(limit + 1), {}, limit)).rejects.toMatchObject(refused)
  await expect(putBlob(scope, generated(limit + 1), {}, limit)).rejects.toMatchObject(refused)
  expect((await backend.upkeep.measure()).rows.blobs).toBe(0)
  expect((await putBlob(scope, generated(limit), {}, limit)).bytes).toBe(limit)
})
