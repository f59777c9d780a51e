// Blobs through the store, on every engine: what was put comes back, or a refusal that says why it does not.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { asSuperuser } from '../../../test/postgres/logins.ts'
import { codeOf, layouts, lentDatabase, openIn, tempFile, tempFolder } from '../../../test/support/engines.ts'
import { QUICK } from '../../../test/support/rounds.ts'
import { memoryBackend } from '../../backends/memory/backend.ts'
import { nodeEnvironment } from '../../environment.ts'
import { type BlobRef, open, type Store } from '../../index.ts'
import { MAIN } from '../../model/ids.ts'
import { createEngine } from '../engine.ts'
import { features } from '../features.ts'
import type { Scope } from '../wiring/scope.ts'
import { getBlob, getJson, putBlob, putJson } from './blobs.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const UNKNOWN = 'ab'.repeat(32)

describe.each(layouts)('on $name', (engine) => {
  test('bytes that were put are got by their reference, or by their digest alone', async () => {
    const store = await engine.open()
    const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => i)
    const ref = await store.blobs.put(bytes, { kind: 'tool-state', hints: ['compressible'] })
    expect(ref).toEqual({ digest: sha256(bytes), bytes: 100_000, kind: 'tool-state', hints: ['compressible'] })
    expect(await store.blobs.get(ref)).toEqual(bytes)
    expect(await store.blobs.get(ref.digest)).toEqual(bytes)
    expect(await store.blobs.put(Buffer.from(bytes))).toEqual({ digest: ref.digest, bytes: 100_000 })
    const none = await store.blobs.put(new Uint8Array(0), { hints: [] })
    expect(none).toEqual({ digest: sha256(new Uint8Array(0)), bytes: 0 })
    expect(await store.blobs.get(none)).toEqual(new Uint8Array(0))
  })

  test('a reference in an event leads to the bytes', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    await session.append('artifact.made', { name: 'report.pdf', blob: await store.blobs.put(bytesOf('%PDF')) })
    const made = store.recent().at(-1)?.data as { readonly blob: BlobRef } | undefined
    expect(await store.blobs.get(made?.blob ?? '')).toEqual(bytesOf('%PDF'))
  })

  test('a blob is its tenant’s, and a view of another tenant does not have it', async () => {
    const store = await engine.open()
    const ref = await store.tenant('acme').blobs.put(bytesOf('theirs'))
    expect(await codeOf(store.blobs.get(ref))).toBe('BLOB_UNKNOWN')
    expect(await codeOf(store.tenant('ACME').blobs.get(ref))).toBe('BLOB_UNKNOWN')
    expect(await store.tenant('acme').as('user_1').blobs.get(ref)).toEqual(bytesOf('theirs'))
    expect((await store.tenant('acme').head()).seq).toBe(0)
  })

  test('a closed tenant’s blobs are neither got nor put until it is back', async () => {
    const store = await engine.open()
    const acme = store.tenant('acme')
    const ref = await acme.blobs.put(bytesOf('theirs'))
    await store.setTenantState('acme', 'suspended', { reason: 'a test' })
    expect(await codeOf(acme.blobs.get(ref))).toBe('TENANT_CLOSED')
    expect(await codeOf(acme.blobs.put(bytesOf('more')))).toBe('TENANT_CLOSED')
    await store.setTenantState('acme', 'active', { reason: 'a test' })
    expect(await acme.blobs.get(ref)).toEqual(bytesOf('theirs'))
  })

  test('a blob that is missing, too large, not bytes or wrongly named is refused with its own code', async () => {
    const store = await engine.open()
    await expect(store.blobs.get(UNKNOWN)).rejects.toMatchObject({
      code: 'BLOB_UNKNOWN',
      kind: 'missing',
      details: { digest: UNKNOWN, tenant: 'main' },
    })
    for (const wrong of ['text', 7, null, undefined, [1, 2], {}, new ArrayBuffer(4), new Uint16Array(2)])
      expect(await codeOf(store.blobs.put(wrong as unknown as Uint8Array))).toBe('OPTION_INVALID')
    for (const wrong of ['', 'x', UNKNOWN.toUpperCase(), `${UNKNOWN}0`, '../../etc/passwd', 7, null, undefined, {}, { digest: 7 }])
      expect(await codeOf(store.blobs.get(wrong as unknown as string))).toBe('OPTION_INVALID')
    for (const wrong of [
      { kind: '' },
      { kind: 7 },
      { kind: 'two words' },
      { kind: 'x'.repeat(65) },
      { hints: 'compressible' },
      { hints: [''] },
      { hints: Array.from({ length: 17 }, () => 'x') },
      'options',
    ])
      expect(await codeOf(store.blobs.put(bytesOf('x'), wrong as object))).toBe('OPTION_INVALID')
    expect((await store.measure()).rows.blobs).toBe(0)
  })

  test('a store that is closed takes and gives none', async () => {
    const store = await engine.open()
    const ref = await store.blobs.put(bytesOf('x'))
    await store.close()
    expect(await codeOf(store.blobs.put(bytesOf('y')))).toBe('STORE_CLOSED')
    expect(await codeOf(store.blobs.get(ref))).toBe('STORE_CLOSED')
  })

  test('bytes that the caller changes during a put change neither digest nor blob', async () => {
    const store = await engine.open()
    const bytes = bytesOf('as it was when put was called')
    const putting = store.blobs.put(bytes)
    bytes.fill(0)
    const ref = await putting
    expect(await store.blobs.get(ref)).toEqual(bytesOf('as it was when put was called'))
  })

  test('blobs are counted with the rows', async () => {
    const store = await engine.open()
    await store.session('s')
    for (const text of ['one', 'two', 'two']) await store.blobs.put(bytesOf(text))
    expect((await store.measure()).rows).toMatchObject({ events: 1, blobs: 2 })
  })
})

describe('a byte that was changed behind our back', () => {
  const text = bytesOf('as it was written')
  const flipped = (bytes: Uint8Array): Uint8Array => bytes.map((byte, i) => (i === 3 ? byte ^ 1 : byte))

  const told = async (store: Store, digest: string): Promise<void> => {
    await expect(store.blobs.get(digest)).rejects.toMatchObject({
      code: 'BLOB_DAMAGED',
      kind: 'corrupt',
      details: { digest, tenant: 'main' },
      message: expect.stringContaining(digest),
    })
    const other = await store.blobs.put(bytesOf('untouched'))
    expect(await store.blobs.get(other)).toEqual(bytesOf('untouched'))
  }

  const filesUnder = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))

  test.each([
    ['one file', 'single', tempFile],
    ['a folder', 'tenant', tempFolder],
  ] as const)('a byte of a blob that was changed behind our back is told on SQLite, in %s', async (_, layout, place) => {
    const url = place()
    const store = await openIn(url, { layout })
    const { digest } = await store.blobs.put(text)
    expect(await store.blobs.get(digest)).toEqual(text)
    const path = filesUnder(layout === 'tenant' ? url : `${url}.blobs`).find((name) => name.endsWith(digest)) ?? ''
    writeFileSync(path, flipped(readFileSync(path)))
    await told(store, digest)
    // Of the right size, so putting it again leaves it as it is: it must be moved away, and put or restored then.
    await store.blobs.put(text)
    await told(store, digest)
    writeFileSync(path, text.subarray(0, 5))
    await told(store, digest)
    await store.blobs.put(text)
    expect(await store.blobs.get(digest)).toEqual(text)
  })

  test.skipIf(QUICK)('a byte of a blob that was changed behind our back is told on PostgreSQL', async () => {
    const url = await lentDatabase()
    const store = await openIn(url)
    const { digest } = await store.blobs.put(text)
    expect(await store.blobs.get(digest)).toEqual(text)
    await asSuperuser(url, (superuser) => superuser.query('update inkfast.blob_pieces set body = $1', [Buffer.from(flipped(text))]))
    await told(store, digest)
    await asSuperuser(url, (superuser) => superuser.query('update inkfast.blob_pieces set body = $1', [Buffer.from(text)]))
    expect(await store.blobs.get(digest)).toEqual(text)
  })

  test.skipIf(QUICK)('pieces of a blob that changed places are told by a read of the whole on PostgreSQL', async () => {
    const url = await lentDatabase()
    const store = await openIn(url)
    const { digest } = await store.blobs.put(Uint8Array.from({ length: 2.5 * 1024 * 1024 }, (_, i) => i >> 16))
    await asSuperuser(url, (superuser) =>
      superuser.query('update inkfast.blob_pieces set n = case n when 0 then 5 when 1 then 0 else n end'),
    )
    await asSuperuser(url, (superuser) => superuser.query('update inkfast.blob_pieces set n = 1 where n = 5'))
    await told(store, digest)
    const stream = async () => {
      for await (const chunk of store.blobs.stream(digest)) expect(chunk.length).toBeGreaterThan(0)
    }
    expect(await codeOf(stream())).toBe('BLOB_DAMAGED')
  })
})

test.skipIf(QUICK)('a store that is opened to be read gives blobs and takes none', async () => {
  for (const [url, options, refusal] of [
    [tempFile(), {}, 'FILE_READ_ONLY'],
    [tempFolder(), { layout: 'tenant' }, 'FILE_READ_ONLY'],
    [await lentDatabase(), {}, 'DATABASE_READ_ONLY'],
  ] as const) {
    const store = await open({ url, ...options })
    await store.session('s')
    const ref = await store.blobs.put(bytesOf('kept'))
    await store.close()
    const reader = await openIn(url, { ...options, readOnly: true })
    expect(await reader.blobs.get(ref)).toEqual(bytesOf('kept'))
    expect(await codeOf(reader.blobs.put(bytesOf('more')))).toBe(refusal)
    expect(await codeOf(reader.blobs.put(bytesOf('kept')))).toBe(refusal)
    expect(await codeOf(reader.tenant('new').blobs.put(bytesOf('more')))).toBe(refusal)
    expect(await codeOf(reader.session('another'))).toBe(refusal)
    // So do calls that write beside the journal.
    for (const write of [() => reader.collect({ grace: 0 }), () => reader.maintain()]) expect(await codeOf(write())).toBe(refusal)
    expect((await reader.collect({ grace: 0, dryRun: true })).complete).toBe(true)
    // A rebuild that finds equal rows writes nothing, so it needs no right to write.
    expect((await reader.rebuild()).equal).toBe(true)
  }
})

const scopeOf = async (): Promise<Scope> => {
  const backend = memoryBackend(nodeEnvironment)
  const engine = await createEngine(backend, nodeEnvironment, {}, features, new AbortController().signal, () => {})
  return { engine, tenant: MAIN, actor: '' }
}

describe('JSON in a blob', () => {
  test('JSON in a blob is the exact text, and reads back as what it says', async () => {
    const scope = await scopeOf()
    const text = '{"b":1.50,"a":"ä漢😀\\u2028","__proto__":{"x":null}}'
    const ref = await putJson(scope, text)
    expect(ref).toEqual({ digest: sha256(bytesOf(text)), bytes: bytesOf(text).length })
    expect(await getBlob(scope, ref)).toEqual(bytesOf(text))
    expect(await getJson(scope, ref)).toEqual(JSON.parse(text))
    expect(await getJson(scope, ref.digest)).toEqual(JSON.parse(text))
  })

  test('JSON in a blob is refused where the bytes are something else, or nothing', async () => {
    const scope = await scopeOf()
    for (const bytes of [bytesOf('{'), new Uint8Array([0xff, 0x22])])
      expect(await codeOf(getJson(scope, await putBlob(scope, bytes)))).toBe('DATA_INVALID')
    expect(await codeOf(getJson(scope, UNKNOWN))).toBe('BLOB_UNKNOWN')
    await expect(putJson(scope, '"\ud800"')).rejects.toThrow('a JSON text is well-formed')
  })
})
