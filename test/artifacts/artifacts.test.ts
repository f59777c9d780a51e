// Artifacts on every engine: blobs that are found by a namespace and a reference.

import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { memoryBackend } from '../../src/backends/memory/backend.ts'
import { nodeEnvironment } from '../../src/environment.ts'
import { open as openStore } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

describe.each(engines)('artifacts on $name', ({ open }) => {
  test('an artifact is found by its reference, and a later put replaces it', async () => {
    const store = await open()
    expect(await store.artifacts.get('release', 'latest')).toBeUndefined()
    await store.artifacts.put('release', 'latest', bytesOf('one'))
    const two = await store.blobs.put(bytesOf('two'))
    expect(await store.artifacts.put('release', 'latest', two)).toEqual(two)
    const { seq } = await store.head()
    await store.artifacts.put('release', 'latest', bytesOf('two'))
    expect((await store.head()).seq).toBe(seq)
    expect(await store.artifacts.get('release', 'latest')).toEqual(bytesOf('two'))
    expect(await store.artifacts.get('release', 'older')).toBeUndefined()
    expect(await store.artifacts.get('other', 'latest')).toBeUndefined()
    expect(await store.tenant('other').artifacts.get('release', 'latest')).toBeUndefined()
    const { deleted } = await store.collect({ grace: 0 })
    expect(deleted.blobs).toBe(0)
    expect(await store.artifacts.get('release', 'latest')).toEqual(bytesOf('two'))
    await expectSound(store)
  })

  test('a digest is taken as it is, and after sha256:, wherever a call takes one', async () => {
    const store = await open()
    const session = await store.session('s')
    const [text, file] = [bytesOf('one'), bytesOf('two')]
    const { digest } = await store.blobs.put(text)
    const named = `sha256:${digest}`
    expect(await store.blobs.get(named)).toEqual(text)
    expect(await store.blobs.get({ digest: named, bytes: 3 }, { from: 0, to: 1 })).toEqual(text.slice(0, 1))
    const streamed: Uint8Array[] = []
    for await (const chunk of store.blobs.stream(named)) streamed.push(chunk)
    expect(streamed).toEqual([text])
    const made = await store.artifacts.put('module', named, { digest: named, bytes: 3 })
    expect(made.digest).toBe(digest)
    expect(await store.artifacts.get('module', named)).toEqual(text)
    await session.append('artifact.made', { name: 'one' }, { refs: [named] })
    expect((await session.attachments.put(file, { id: `sha256:${sha256(file)}` })).id).toBe(sha256(file))
    const id = `sha256:${sha256(file)}`
    expect(await session.attachments.stat(id)).toMatchObject({ id: sha256(file), state: 'stored' })
    await session.attachments.commit([id, sha256(file)])
    expect((await session.attachments.get(id))?.bytes).toEqual(file)
    for await (const chunk of session.attachments.stream(id)) expect(chunk).toEqual(file)
    const pay = { subject: 'pay', data: { amount: 5 } }
    const asked = await store.approvals.request(pay)
    expect((await store.approvals.list({ digest: `sha256:${asked.digest}` })).items).toHaveLength(1)
    await store.approvals.decide(asked.id, { decision: 'approve', digest: `sha256:${asked.digest}` })
    expect((await store.collect({ grace: 0 })).deleted.blobs).toBe(0)
    for (const wrong of [`sha256:${digest.toUpperCase()}`, `SHA256:${digest}`, `sha256:sha256:${digest}`, 'sha256:'])
      expect(await codeOf(store.blobs.get(wrong)), wrong).toBe('OPTION_INVALID')
    await expectSound(store)
  })

  test('garbage collection deletes the blob that a pointer left, once its event is erased, and keeps the new one', async () => {
    const store = await open()
    await store.artifacts.put('release', 'latest', bytesOf('one'))
    const { seq } = await store.head()
    await store.artifacts.put('release', 'latest', bytesOf('two'))
    await store.erase({ seq, reason: 'an old release' })
    expect((await store.collect({ grace: 0 })).deleted.blobs).toBe(1)
    expect(await store.artifacts.get('release', 'latest')).toEqual(bytesOf('two'))
    await store.erase({ seq: seq + 1, reason: 'the next one too' })
    expect(await store.artifacts.get('release', 'latest')).toBeUndefined()
    await store.artifacts.put('release', 'latest', bytesOf('three'))
    expect(await store.artifacts.get('release', 'latest')).toEqual(bytesOf('three'))
    await expectSound(store)
  })

  test('the reference of a module is checked against its bytes, and a pointer to a missing blob is refused', async () => {
    const store = await open()
    const code = bytesOf('export const answer = 42')
    const reference = `sha256:${sha256(code)}`
    expect(await store.artifacts.put('module', reference, code)).toEqual({ digest: sha256(code), bytes: code.length, kind: 'module' })
    expect(await store.artifacts.get('module', reference)).toEqual(code)
    const { seq } = await store.head()
    await expect(store.artifacts.put('module', reference, bytesOf('other'))).rejects.toMatchObject({
      code: 'ARTIFACT_MISMATCH',
      details: { namespace: 'module', reference, found: `sha256:${sha256(bytesOf('other'))}` },
    })
    expect(await codeOf(store.artifacts.put('module', 'latest', code))).toBe('ARTIFACT_MISMATCH')
    expect(await codeOf(store.artifacts.put('release', 'latest', { digest: 'ab'.repeat(32), bytes: 1 }))).toBe('BLOB_UNKNOWN')
    for (const [namespace, name, content] of [
      ['Not a word', 'x', code],
      ['release', 'x', 'text'],
      ['release', 'x', { digest: sha256(code) }],
    ] as const)
      expect(await codeOf(store.artifacts.put(namespace, name, content as Uint8Array))).toBe('OPTION_INVALID')
    expect(await codeOf(store.artifacts.put('release', '', code))).toBe('KEY_INVALID')
    expect((await store.head()).seq).toBe(seq)
  })

  test('an environment is named by the digest of its canonical JSON', async () => {
    const store = await open()
    const name = await store.artifacts.putEnvironment({ tools: ['search'], node: '24' })
    expect(name).toBe(`process-env:sha256:${sha256(bytesOf('{"node":"24","tools":["search"]}'))}`)
    expect(await store.artifacts.putEnvironment({ node: '24', tools: ['search'] })).toBe(name)
    expect(await store.artifacts.getEnvironment(name)).toEqual({ node: '24', tools: ['search'] })
    expect(await store.artifacts.getEnvironment(`process-env:sha256:${'0'.repeat(64)}`)).toBeUndefined()
    expect(await codeOf(store.artifacts.getEnvironment('sha256:0'))).toBe('OPTION_INVALID')
  })
})

test('a module is read once, and not answered from memory once its pointer is erased', async () => {
  const backend = memoryBackend(nodeEnvironment)
  let reads = 0
  const counted: Backend = {
    ...backend,
    blobs: {
      ...backend.blobs,
      get: (...asked) => {
        reads++
        return backend.blobs.get(...asked)
      },
    },
  }
  await using store = await openStore({ backend: counted })
  const code = bytesOf('export const answer = 42')
  const reference = `sha256:${sha256(code)}`
  await store.artifacts.put('module', reference, code)
  const { seq } = await store.head()
  const first = await store.artifacts.get('module', reference)
  first?.fill(0)
  expect(await store.artifacts.get('module', reference)).toEqual(code)
  expect(reads).toBe(1)
  expect(await store.tenant('other').artifacts.get('module', reference)).toBeUndefined()
  await store.erase({ seq, reason: 'withdrawn' })
  expect(await store.artifacts.get('module', reference)).toBeUndefined()
})
