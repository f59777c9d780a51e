// Blobs in pieces, and the list of blobs.

import { ok, deepEqual as same } from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { PIECE_BYTES } from '../../model/blob.ts'
import { hex, sameBytes } from '../../model/bytes.ts'
import { group } from '../case.ts'
import { MAIN, OTHER, sha256 } from '../material.ts'
import { listed, putAll, read, sample, samples, words } from './blob-samples.ts'

const a = group('blobs in pieces')

const pieced = 'a blob of any size is kept in pieces, and is there once it is finished'
const told = 'every blob of the tenant is listed once, in order'

export const blobPieces = [
  a(pieced, 'a blob in pieces is given piece by piece, each with its own digest', async ({ backend }) => {
    const pieces = [PIECE_BYTES, PIECE_BYTES, 5].map((size, k) => Uint8Array.from({ length: size }, (_, i) => (i * 31 + k) >> 3))
    const { digest } = sample(Buffer.concat(pieces))
    for (const compress of [true, false]) {
      const writer = await backend.blobs.write(MAIN, { compress })
      for (const piece of pieces) await writer.add(piece, sha256(piece))
      same(await backend.blobs.has(MAIN, [digest]), [!compress], 'not before it is finished')
      await writer.finish(digest)
      for (const [n, piece] of pieces.entries()) {
        const got = await backend.blobs.get(MAIN, digest, n)
        same([got?.bytes, hex(got?.sha256 ?? piece)], [2 * PIECE_BYTES + 5, hex(sha256(piece))])
        ok(got && sameBytes(got.body, piece), `piece ${n}`)
      }
      same(await backend.blobs.get(MAIN, digest, 3), undefined)
      same(await listed(backend), [digest])
    }
  }),

  a(pieced, 'what is abandoned is no blob, and others are not touched by it', async ({ backend }) => {
    const { digest, bytes } = words('kept')
    await backend.blobs.put(MAIN, digest, bytes)
    const writer = await backend.blobs.write(MAIN)
    await writer.add(new Uint8Array(PIECE_BYTES), sha256(new Uint8Array(PIECE_BYTES)))
    await writer.abandon()
    same((await listed(backend)).length, 1)
    same(await backend.blobs.sweep(MAIN, -60_000), 0, 'nothing is left of it')
    same(await read(backend, digest), hex(bytes))
  }),

  a(pieced, 'what was never finished is swept once it is quiet, and what is finished or being written is not', async ({ backend }) => {
    const piece = Uint8Array.from({ length: PIECE_BYTES }, (_, i) => i)
    const whole = sample(new Uint8Array(Buffer.concat([piece, piece])))
    const [left, writing] = [await backend.blobs.write(MAIN), await backend.blobs.write(MAIN)]
    for (const writer of [left, writing, writing]) await writer.add(piece, sha256(piece))
    same(await backend.blobs.sweep(MAIN, 60_000), 0)
    await writing.finish(whole.digest)
    await backend.blobs.sweep(MAIN, -60_000)
    ok(sameBytes((await backend.blobs.get(MAIN, whole.digest, 1))?.body ?? piece.subarray(1), piece))
    await left.abandon()
  }),

  a(pieced, 'compressed and small bytes come back as they were put', async ({ backend }) => {
    const texts = [words('again and '.repeat(5000)), words('small'), sample(new Uint8Array(0))]
    for (const [i, { digest, bytes }] of texts.entries()) await backend.blobs.put(MAIN, digest, bytes, { compress: true, inline: i > 0 })
    for (const { digest, bytes } of texts) same(await read(backend, digest), hex(bytes))
  }),

  a(told, 'blobs are listed in the order of their digests, page by page', async ({ backend }) => {
    same(await listed(backend), [])
    await putAll(backend, samples)
    const digests = samples.map(({ digest }) => digest).sort()
    same(await listed(backend), digests)
    same(await listed(backend, digests[0], 2), digests.slice(1, 3))
    same(await listed(backend, digests.at(-1)), [])
    for (const { digest, bytes, state, at } of await backend.blobs.list(MAIN, undefined, 100)) {
      same([bytes, state], [samples.find((one) => one.digest === digest)?.bytes.length, 'present'])
      ok(Number.isSafeInteger(at))
    }
    same(await backend.blobs.list(OTHER, undefined, 10), [])
  }),
]
