// Guards on blobs, and their garbage collection.

import { deepEqual as same } from 'node:assert/strict'
import { hex } from '../../model/bytes.ts'
import { group } from '../case.ts'
import { MAIN, OTHER, sha256 } from '../material.ts'
import { condemn, guard, putAll, read, words } from './blob-samples.ts'
import { refused, save, saved, send } from './expect.ts'

const a = group('collected blobs')

const guarded = 'a commit that names a blob is refused where the tenant has no such blob'
const collected = 'a collection deletes the blobs it condemned, unless they were put or named again'

export const collectedBlobs = [
  a(guarded, 'a commit that names a blob the tenant has is saved, and one that names another is refused', async ({ backend, make }) => {
    await backend.blobs.put(MAIN, words('mine').digest, words('mine').bytes)
    await backend.blobs.put(OTHER, words('theirs').digest, words('theirs').bytes)
    await save(backend, make.commit(MAIN, { guards: [guard('mine')] }))
    for (const missing of [guard('theirs'), guard('nowhere'), { ...guard('nowhere'), given: true } as const])
      refused(await send(backend, make.commit(MAIN, { guards: [guard('mine'), missing] })), missing, 0)
    same((await backend.journal.head(MAIN)).seq, 1)
    const [first, second] = await backend.commit([
      make.commit(MAIN, { guards: [guard('nowhere')] }),
      make.commit(MAIN, { guards: [guard('mine')] }),
    ])
    refused(first, guard('nowhere'), 0)
    saved(second)
  }),

  a(collected, 'a condemned blob is deleted, and others stay', async ({ backend }) => {
    await putAll(backend, [words('one'), words('two')])
    const { number } = await backend.values.begin(MAIN)
    same(await condemn(backend, number, ['one']), 'condemned')
    same(await read(backend, words('one').digest), hex(words('one').bytes), 'it can still be read')
    same(await backend.blobs.remove(MAIN, number, [words('one').digest, words('two').digest]), [words('one').digest])
    same(await backend.blobs.has(MAIN, [words('one').digest, words('two').digest]), [false, true])
    same(await backend.blobs.get(MAIN, words('one').digest, 0), undefined)
    await putAll(backend, [words('one')])
    same(await read(backend, words('one').digest), hex(words('one').bytes))
  }),

  a(collected, 'a put or a commit makes a condemned blob present again', async ({ backend, make }) => {
    const all = ['put', 'guarded', 'referred to', 'streamed', 'left']
    await putAll(backend, all.map(words))
    const { number } = await backend.values.begin(MAIN)
    same(await condemn(backend, number, all), 'condemned')
    await putAll(backend, [words('put')])
    await save(backend, make.commit(MAIN, { guards: [guard('guarded')] }))
    await save(backend, make.commit(MAIN, { events: [{ ...make.draft(MAIN), refs: [`blob:${words('referred to').digest}`] }] }))
    const writer = await backend.blobs.write(MAIN)
    await writer.add(words('streamed').bytes, sha256(words('streamed').bytes))
    await writer.finish(words('streamed').digest)
    same(
      await backend.blobs.remove(
        MAIN,
        number,
        all.map((text) => words(text).digest),
      ),
      [words('left').digest],
    )
    for (const text of all.slice(0, -1)) same(await read(backend, words(text).digest), hex(words(text).bytes), text)
  }),

  a(collected, 'what was put or named since the collection began is not condemned', async ({ backend, make }) => {
    await putAll(backend, ['old', 'put again', 'named', 'refused'].map(words))
    const { number } = await backend.values.begin(MAIN)
    await putAll(backend, [words('put again'), words('new')])
    await save(backend, make.commit(MAIN, { guards: [guard('named')] }))
    refused(await send(backend, make.commit(MAIN, { guards: [guard('refused'), guard('nowhere')] })), guard('nowhere'), 0)
    same(await condemn(backend, number, ['old', 'put again', 'named', 'new', 'refused']), 'condemned')
    const states = new Map((await backend.blobs.list(MAIN, undefined, 10)).map(({ digest, state }) => [digest, state]))
    same(
      ['old', 'put again', 'named', 'new', 'refused'].map((text) => states.get(words(text).digest)),
      ['condemned', 'present', 'present', 'present', 'condemned'],
    )
  }),

  a(collected, 'what is younger than the grace is not condemned', async ({ backend }) => {
    await putAll(backend, [words('young')])
    const { number } = await backend.values.begin(MAIN)
    const [at = 0] = (await backend.blobs.list(MAIN, undefined, 10)).map((blob) => blob.at)
    same(await condemn(backend, number, ['young'], at), 'condemned')
    same(await backend.blobs.remove(MAIN, number, [words('young').digest]), [])
    same(await condemn(backend, number, ['young'], at + 1), 'condemned')
    same(await backend.blobs.remove(MAIN, number, [words('young').digest]), [words('young').digest])
  }),

  a(collected, 'nothing is condemned while a named node has not been seen, nor for a collection that was replaced', async ({ backend }) => {
    await putAll(backend, [words('one')])
    const node = { ref: sha256(words('node').bytes), body: words('node').bytes }
    const naming = { tenant: MAIN, guards: [], events: [], changes: [], nodes: [node] }
    saved(await send(backend, naming))
    const first = await backend.values.begin(MAIN)
    saved(await send(backend, naming))
    same(await condemn(backend, first.number, ['one']), 'named')
    same(await backend.blobs.remove(MAIN, first.number, [words('one').digest]), [])
    same(await condemn(backend, first.number, ['one'], Infinity, 1), 'condemned')
    await backend.values.begin(MAIN)
    same(await condemn(backend, first.number, ['one']), 'replaced')
    same(await backend.blobs.remove(MAIN, first.number, [words('one').digest]), 'replaced')
    same(await read(backend, words('one').digest), hex(words('one').bytes))
  }),

  a(collected, 'another tenant’s blobs are neither condemned nor deleted', async ({ backend }) => {
    await putAll(backend, [words('shared')])
    await backend.blobs.put(OTHER, words('shared').digest, words('shared').bytes)
    const { number } = await backend.values.begin(OTHER)
    same(await condemn(backend, number, ['shared'], Infinity, 0, OTHER), 'condemned')
    same(await backend.blobs.remove(OTHER, number, [words('shared').digest]), [words('shared').digest])
    same(await read(backend, words('shared').digest), hex(words('shared').bytes))
    same(await backend.blobs.has(OTHER, [words('shared').digest]), [false])
  }),
]
