// Garbage collection deletes the blobs that nothing refers to, and no other, whatever is written meanwhile and whenever it dies.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { memoryBackend } from '../../src/backends/memory/backend.ts'
import { lockUpload } from '../../src/backends/sqlite/upload-locks.ts'
import { chance } from '../../src/conformance/chance.ts'
import { nodeEnvironment } from '../../src/environment.ts'
import { type BlobRef, open as openStore, type Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import type { Commit } from '../../src/ports/commit.ts'
import { codeOf, engines, expectSound, openIn, tempFile } from '../support/engines.ts'
import { rounds } from '../support/rounds.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

const isThere = async (store: Store, blob: BlobRef | string): Promise<boolean> => (await codeOf(store.blobs.get(blob))) !== 'BLOB_UNKNOWN'

/** Writers beside collections without grace. Throws if a blob that an event refers to cannot be read. */
async function writeAndCollect(store: Store, seed: number): Promise<void> {
  const dice = chance(seed)
  const session = await store.session('s')
  const live = new Map<string, number>()
  const step = async (): Promise<void> => {
    const blob = await store.blobs.put(bytesOf(`content ${dice.int(12)}`))
    await Promise.resolve()
    if (dice.int(3) === 0) return
    try {
      const { seq } = await session.append('note.made', {}, { refs: [blob] })
      if (live.has(blob.digest)) return
      live.set(blob.digest, seq)
      if (dice.int(2) === 0) return
      live.delete(blob.digest)
      await store.erase({ seq, reason: 'no longer needed' })
    } catch (error) {
      // A collection deleted it before the event could refer to it. The caller is told, and nothing refers to it.
      if ((error as { code?: string }).code !== 'BLOB_UNKNOWN') throw error
    }
  }
  let writing = true
  const collecting = (async () => {
    while (writing) await store.collect({ grace: 0 })
  })()
  try {
    for (let round = 0; round < 12; round++) {
      await Promise.all(Array.from({ length: 4 }, step))
      for (const digest of live.keys()) expect(await isThere(store, digest), `seed ${seed}, round ${round}`).toBe(true)
    }
  } finally {
    writing = false
    await collecting
  }
  await store.collect({ grace: 0 })
  for (const digest of live.keys()) expect(await isThere(store, digest), `seed ${seed}`).toBe(true)
  await expectSound(store)
}

describe.each(engines)('garbage collection of blobs on $name', ({ open, openInTime }) => {
  test('a blob that stands in a large result, a large payload or a value is kept', async () => {
    const store = await open()
    const session = await store.session('s')
    const pad = 'long '.repeat(50_000)
    const blobs = await Promise.all(['result', 'payload', 'value', 'loose'].map((text) => store.blobs.put(bytesOf(text))))
    const [result, payload, value, loose] = blobs as [BlobRef, BlobRef, BlobRef, BlobRef]
    const run = await session.run('r')
    await run.effect('large', () => ({ pad, file: result }))
    await store.queue('q').offer({ pad, files: [{ file: payload }] })
    const ref = await store.values.put({ pad, files: Array.from({ length: 200 }, (_, i) => (i === 7 ? value : { i })) })
    await session.append('note.made', { ref }, { refs: [ref] })
    await store.collect({ grace: 0 })
    expect(await Promise.all([result, payload, value, loose].map((blob) => isThere(store, blob)))).toEqual([true, true, true, false])
    await run.finish({ pad, file: result })
    await store.collect({ grace: 0 })
    expect(await isThere(store, result)).toBe(true)
    await expectSound(store)
  })

  test('a blob is kept by an event, its refs, a pin, a value, a queue and a run, and deleted without any of them', async () => {
    const store = await open()
    const session = await store.session('s')
    const [found, declared, pinned, loose, erased] = await Promise.all(
      ['found', 'declared', 'pinned', 'loose', 'erased'].map((text) => store.blobs.put(bytesOf(text))),
    )
    if (!found || !declared || !pinned || !loose || !erased) throw new Error('five blobs')
    await session.append('note.made', { attachment: found })
    await session.append('note.made', {}, { refs: [declared] })
    await store.pin(pinned)
    const { seq } = await session.append('note.made', { blob: erased })
    const long = 'long '.repeat(30_000)
    const ref = await store.values.put({ long })
    await session.append('note.made', {}, { refs: [ref] })
    await store.queue<string>('q').offer('x'.repeat(100_000))
    await store.erase({ seq, reason: 'the person asked' })
    const before = await store.collect({ dryRun: true, grace: 0 })
    expect(before.deleted.blobs).toBe(2)
    expect(await isThere(store, loose)).toBe(true)
    const { deleted, retained, complete } = await store.collect({ grace: 0 })
    expect({ deleted, complete }).toEqual({ deleted: before.deleted, complete: true })
    expect(retained.blobs).toBe(5)
    for (const blob of [found, declared, pinned]) expect(await isThere(store, blob)).toBe(true)
    for (const blob of [loose, erased]) expect(await isThere(store, blob)).toBe(false)
    expect(await store.values.get(ref)).toEqual({ long })
    const claim = await store.queue<string>('q').claim()
    expect(claim?.payload.length).toBe(100_000)
    await claim?.complete()
    expect((await store.collect({ grace: 0 })).deleted).toEqual({ nodes: 0, blobs: 0, bytes: 0 })
    await store.unpin(pinned)
    expect((await store.collect({ grace: 0 })).deleted.blobs).toBe(1)
    expect(await store.blobs.put(bytesOf('pinned'))).toEqual(pinned)
    expect(await isThere(store, pinned)).toBe(true)
    await expectSound(store)
  })

  test('a blob is kept for a day after it was put, and again after it is put or named again', async () => {
    const { store, pass } = await openInTime()
    const blob = await store.blobs.put(bytesOf('once'))
    const DAY = 24 * 60 * 60 * 1000
    await pass(DAY / 2)
    expect((await store.collect()).deleted.blobs).toBe(0)
    expect(await store.blobs.put(bytesOf('once'))).toEqual(blob)
    await pass(DAY * 0.75)
    expect((await store.collect()).deleted.blobs).toBe(0)
    await store.pin(blob)
    await store.unpin(blob)
    await pass(DAY * 0.75)
    expect((await store.collect()).deleted.blobs).toBe(0)
    await pass(DAY)
    expect((await store.collect()).deleted.blobs).toBe(1)
    expect(await isThere(store, blob)).toBe(false)
  })

  test('a reference to a blob that is not there is refused, and nothing is written', async () => {
    const store = await open()
    const session = await store.session('s')
    const { seq } = await store.head()
    const theirs = await store.tenant('other').blobs.put(bytesOf('theirs'))
    for (const blob of ['f'.repeat(64), theirs]) {
      expect(await codeOf(session.append('note.made', {}, { refs: [blob] }))).toBe('BLOB_UNKNOWN')
      expect(await codeOf(store.pin(blob))).toBe('BLOB_UNKNOWN')
    }
    expect((await store.head()).seq).toBe(seq)
  })

  test('a collection beside puts, references and erasures deletes no blob that an event refers to', async () => {
    for (let seed = 1; seed <= rounds(2, 15); seed++) await writeAndCollect(await open(), seed)
  })
})

/** A backend whose commits check and keep references to blobs, but do not note that they named one. */
function unnoting(backend: Backend): Backend {
  const known: { seq: number; ref: string }[] = []
  const isMissing = async ({ tenant, guards }: Commit): Promise<boolean> => {
    const digests = guards.flatMap((guard) => (guard.kind === 'blob' ? [guard.digest] : []))
    return digests.length > 0 && (await backend.blobs.has(tenant, digests)).includes(false)
  }
  return {
    ...backend,
    commit: async (batch) => {
      const missing = await Promise.all(batch.map(isMissing))
      const outcomes = await backend.commit(
        batch.map((commit, i) => ({
          ...commit,
          guards: commit.guards.filter(({ kind }) => kind !== 'blob' || missing[i]),
          events: commit.events.map((event) => ({ ...event, refs: undefined })),
        })),
      )
      for (const [i, { events, changes }] of batch.entries()) {
        const outcome = outcomes[i]
        if (!outcome?.ok) continue
        for (const [n, { refs = [] }] of events.entries()) for (const ref of refs) known.push({ seq: outcome.receipts[n]?.seq ?? 0, ref })
        const erased = new Set(changes.flatMap((change) => (change.kind === 'erase' ? change.seqs : [])))
        for (const entry of known.splice(0)) if (!erased.has(entry.seq)) known.push(entry)
      }
      return outcomes
    },
    values: { ...backend.values, references: async (_, after) => (after ? [] : [...known]) },
  }
}

/** Names a blob in a commit just before the collection condemns it. Says whether the blob is still there. */
async function nameBeforeCondemned(backend: Backend): Promise<boolean> {
  let name = async (): Promise<void> => {}
  const condemn: Backend['blobs']['condemn'] = async (collected) => {
    await name()
    name = async () => {}
    return backend.blobs.condemn(collected)
  }
  const store = await openStore({ backend: { ...backend, blobs: { ...backend.blobs, condemn } } })
  const session = await store.session('s')
  const blob = await store.blobs.put(bytesOf('named'))
  name = async () => void (await session.append('note.made', {}, { refs: [blob] }))
  await store.collect({ grace: 0 })
  return isThere(store, blob)
}

test('a blob that a commit names just before it is condemned stays, and is lost where commits do not note it', async () => {
  expect(await nameBeforeCondemned(memoryBackend(nodeEnvironment))).toBe(true)
  expect(await nameBeforeCondemned(unnoting(memoryBackend(nodeEnvironment)))).toBe(false)
})

describe('a collection that died on SQLite', () => {
  const fileOf = (path: string, digest: string): string => join(`${path}.blobs`, 'tenant-main.blobs', digest.slice(0, 2), digest)

  async function left(state: string, withFile: boolean): Promise<{ store: Store; path: string; blob: BlobRef }> {
    const path = tempFile()
    const store = await openIn(path)
    const blob = await store.blobs.put(bytesOf('left'))
    const db = new DatabaseSync(path)
    db.prepare('update blobs set state = ?').run(state)
    db.close()
    if (!withFile) writeFileSync(fileOf(path, blob.digest), '')
    return { store, path, blob }
  }

  test('a blob that was condemned when a collection died can be read, and a commit makes it present', async () => {
    const { store, blob } = await left('condemned', true)
    expect(await store.blobs.get(blob)).toEqual(bytesOf('left'))
    const session = await store.session('s')
    await session.append('note.made', {}, { refs: [blob] })
    expect((await store.collect({ grace: 0 })).deleted.blobs).toBe(0)
    expect(await store.blobs.get(blob)).toEqual(bytesOf('left'))
  })

  test.each([true, false])(
    'a blob that was being deleted cannot be named, is put again, or deleted by the next collection: file %s',
    async (file) => {
      const { store, blob, path } = await left('deleting', file)
      expect(await isThere(store, blob)).toBe(false)
      const session = await store.session('s')
      expect(await codeOf(session.append('note.made', {}, { refs: [blob] }))).toBe('BLOB_UNKNOWN')
      await store.blobs.put(bytesOf('left'))
      expect(await store.blobs.get(blob)).toEqual(bytesOf('left'))
      const again = await left('deleting', file)
      expect((await again.store.collect()).deleted.blobs).toBe(1)
      expect(existsSync(fileOf(again.path, again.blob.digest))).toBe(false)
      expect(existsSync(fileOf(path, blob.digest))).toBe(true)
    },
  )

  test('files that a dead process left behind are deleted at once, and those of a living upload are not', async () => {
    const path = tempFile()
    const store = await openIn(path)
    const kept = await store.blobs.put(bytesOf('kept'))
    await store.pin(kept)
    const uploads = join(`${path}.blobs`, 'tenant-main.blobs', 'uploads')
    mkdirSync(uploads)
    const filesOf = (id: string): readonly string[] => {
      const digest = sha256(bytesOf(id))
      // A crash came between the name of the file and its row, or before.
      return [fileOf(path, digest), `${fileOf(path, digest)}.new-${id}`, join(uploads, `upload.new-${id}`)]
    }
    const lock = lockUpload(uploads, 0o600)
    const [left, living, foreign] = [filesOf('0123456789ab'), filesOf(lock.id), join(uploads, '.DS_Store')]
    for (const file of [...left, ...living, foreign]) {
      mkdirSync(join(file, '..'), { recursive: true })
      writeFileSync(file, 'left')
    }
    const there = (files: readonly string[]) => files.map((file) => existsSync(file))
    expect((await store.collect()).deleted.bytes).toBe(12)
    expect(there([...left, ...living, foreign])).toEqual([false, false, false, true, true, true, true])
    lock.release()
    expect((await store.collect()).deleted.bytes).toBe(12)
    expect(there([...living, foreign])).toEqual([false, false, false, true])
    expect(await store.blobs.get(kept)).toEqual(bytesOf('kept'))
    expect(readdirSync(`${path}.blobs`)).toEqual(['tenant-main.blobs'])
  })
})
