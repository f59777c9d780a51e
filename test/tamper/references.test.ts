// Declared references are part of the event, so that verify notices the loss of one beside the journal, on every engine that stores it.

import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { codeOf, engines, expectSound } from '../support/engines.ts'
import { tampered } from './engines.ts'

const VERIFIER = new URL('../../verifier/inkfast_verify.py', import.meta.url).pathname
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

const python = (path: string) => JSON.parse(spawnSync('python3', [VERIFIER, path, '--json'], { encoding: 'utf8' }).stdout)

describe.each(engines)('on $name', ({ open }) => {
  test('an event has the references that its append declared, in order and each once', async () => {
    await using store = await open()
    const session = await store.session('s')
    const blob = await store.blobs.put(bytesOf('report'))
    const value = await store.values.put(['x'])
    await session.append('a.b', { n: 1 }, { refs: [value, blob, blob.digest, value] })
    await session.append('a.b', { text: 'x'.repeat(2_000_000) }, { refs: [value], large: 'blob' })
    await store.appendAll([{ session: session.id, type: 'a.b', data: 2, refs: [blob] }])
    await session.append('a.b', 3, { refs: [] })
    const [declared, large, all, none] = (await store.page({ types: ['a.b'] })).items
    expect(declared).toMatchObject({ data: { n: 1 }, refs: [blob.digest, value], schema: 3 })
    expect(large).toMatchObject({ data: undefined, blob: { bytes: 2_000_011 }, refs: [value], schema: 4 })
    expect(await store.data(large as never)).toMatchObject({ text: expect.stringMatching(/^x+$/) })
    expect(all).toMatchObject({ data: 2, refs: [blob.digest], schema: 3 })
    expect(none).toMatchObject({ data: 3, schema: 1 })
    expect(none?.refs).toBeUndefined()
    expect((await store.verify()).references).toEqual({ intact: true, references: 5, problems: [] })
    await expectSound(store)
  })

  test('an item of memory refers to no blob', async () => {
    await using store = await open()
    await store.memory.remember('likes tea', { about: 'user/ada' })
    expect((await store.verify()).references).toEqual({ intact: true, references: 0, problems: [] })
    expect((await store.memory.remember('likes tea', { about: 'user/ada' })).id).toBeDefined()
    await expectSound(store)
  })

  test('a key and an id are used again with other references', async () => {
    await using store = await open()
    const session = await store.session('s')
    const [one, two] = [await store.values.put(['one']), await store.values.put(['two'])]
    const first = await session.append('a.b', 1, { key: 'k', refs: [one, two] })
    expect(await session.append('a.b', 1, { key: 'k', refs: [two, one] })).toEqual(first)
    for (const refs of [[], [one], [two]]) expect(await codeOf(session.append('a.b', 1, { key: 'k', refs }))).toBe('KEY_REUSED')
    const id = '01ARZ3NDEKTSV4RRFFQ69G5FAV'
    const chosen = await session.append('a.b', 1, { id, refs: [one] })
    expect(await session.append('a.b', 1, { id, refs: [one] })).toEqual(chosen)
    expect(await codeOf(session.append('a.b', 1, { id, refs: [two] }))).toBe('ID_REUSED')
    expect(await codeOf(session.append('a.b', 1, { id }))).toBe('ID_REUSED')
    expect(await store.verifyKeys()).toMatchObject({ intact: true })
    await expectSound(store)
  })
})

describe.each(tampered)('on $name', ({ make, name }) => {
  test('a reference that was lost or invented beside the journal is found by verify and check, and by the independent verifier', async () => {
    const { at, store, ask, table } = await make()
    const session = await store.session('s')
    const blob = await store.blobs.put(bytesOf('report'))
    const value = await store.values.put(['x'])
    const { seq: declared } = await session.append('a.b', { n: 1 }, { refs: [value] })
    const { seq: found } = await session.append('a.b', { blob })
    const { seq: erased } = await session.append('a.b', { blob }, { refs: [value] })
    await store.erase({ seq: erased, reason: 'asked for' })
    expect(await store.verify()).toMatchObject({ intact: true, references: { intact: true, references: 2 } })
    expect(await store.check()).toEqual([])
    if (name === 'sqlite') expect(python(at)).toMatchObject({ intact: true, references: { compared: 2, bad: 0 } })

    await ask(`delete from ${table('refs')} where seq = ${declared}`)
    const lost = { seq: declared, ref: value, reason: expect.stringContaining('is missing from the list') }
    expect(await store.verify()).toMatchObject({ intact: false, problems: [], references: { intact: false, problems: [lost] } })
    expect(await store.check()).toEqual([expect.stringMatching(`seq ${declared}: a reference of this event is missing.*${value}`)])
    if (name === 'sqlite') expect(python(at)).toMatchObject({ intact: false, broken: [{ seq: declared, state: 'corrupt' }] })

    await ask(`delete from ${table('refs')} where seq = ${found}`)
    await ask(`insert into ${table('refs')} (tenant, seq, ref) values ('main', ${erased}, '${value}')`)
    const { references } = await store.verify()
    expect(references.problems.map(({ seq, ref }) => [seq, ref])).toEqual([
      [declared, value],
      [found, `blob:${blob.digest}`],
      [erased, value],
    ])
    expect(await store.check()).toHaveLength(3)
    if (name === 'sqlite') expect(python(at).brokenTotal).toBe(3)
    await store.close()
  })

  test('declared references are hashed: a changed one is a corrupt event', async () => {
    const { at, store, ask, table } = await make()
    const session = await store.session('s')
    const [one, two] = [await store.values.put(['one']), await store.values.put(['two'])]
    const { seq } = await session.append('a.b', { n: 1 }, { refs: [one] })
    await ask(name === 'sqlite' ? 'drop trigger events_stay' : 'alter table inkfast.events disable trigger all')
    await ask(`update ${table('events')} set payload = replace(payload, '${one}', '${two}') where seq = ${seq}`)
    await ask(`update ${table('refs')} set ref = '${two}' where seq = ${seq}`)
    expect(await store.verify()).toMatchObject({ intact: false, brokenAt: seq, references: { intact: true } })
    if (name === 'sqlite') expect(python(at)).toMatchObject({ intact: false, broken: [{ seq, state: 'corrupt' }] })
    await store.close()
  })
})
