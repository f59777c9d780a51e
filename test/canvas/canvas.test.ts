// Canvases on every engine: versions, expectations, limits, masking, history, undo, closing, deletion.

import { describe, expect, test } from 'vitest'
import { applyPatch, type Canvas, type PatchOperation, type Store } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const add = (path: string, value: unknown): PatchOperation => ({ op: 'add', path, value })

const all = async <T>(items: AsyncIterable<T>): Promise<readonly T[]> => {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

const planOf = async (store: Store, key = 's'): Promise<Canvas> => (await store.session(key)).canvas('plan')

describe.each(engines)('on $name', (engine) => {
  test('a canvas is {} at version 0, grows by one version with each update, and reads back', async () => {
    const store = await engine.open()
    const canvas = await planOf(store)
    expect(await canvas.get()).toBeUndefined()
    expect(await canvas.at({ version: 0 })).toEqual({ document: {}, version: 0 })
    expect(await canvas.patch([add('/steps', [])], { expect: 0 })).toEqual({ version: 1 })
    expect(await canvas.patch([add('/steps/-', 'ship')], { expect: 1 })).toEqual({ version: 2 })
    expect(await canvas.replace({ steps: ['ship'], owner: 'ada' })).toEqual({ version: 3 })
    expect(await canvas.get()).toEqual({ document: { steps: ['ship'], owner: 'ada' }, version: 3 })
    expect(await canvas.at({ version: 1 })).toEqual({ document: { steps: [] }, version: 1 })
    expect(await canvas.at({ version: 4 })).toBeUndefined()
    const stored = (await all(store.events({ types: ['canvas.patched'] }))).map(({ data }) => (data as { ops: unknown }).ops)
    expect(stored[2]).toEqual([add('/owner', 'ada')])
    await expectSound(store)
  })

  test('a change that a reader makes in a document stays with the reader', async () => {
    const store = await engine.open()
    const canvas = await planOf(store)
    await canvas.patch([add('/list', [{ n: 1 }])])
    const { document } = (await canvas.get()) as { document: { list: { n: number }[] } }
    ;(document.list[0] as { n: number }).n = 2
    document.list.push({ n: 3 })
    expect((await canvas.get())?.document).toEqual({ list: [{ n: 1 }] })
  })

  test('an empty patch and a patch of tests change nothing, and an equal replacement is no version', async () => {
    const store = await engine.open()
    const canvas = await planOf(store)
    expect(await canvas.patch([])).toEqual({ version: 0 })
    expect(await canvas.get()).toBeUndefined()
    expect(await canvas.replace({})).toEqual({ version: 1 })
    expect(await canvas.replace({})).toEqual({ version: 1 })
    expect(await canvas.patch([{ op: 'test', path: '', value: {} }])).toEqual({ version: 1 })
    expect(await canvas.replace([1, 2])).toEqual({ version: 2 })
    expect((await canvas.get())?.document).toEqual([1, 2])
    await expectSound(store)
  })

  test('a wrong expectation carries both versions, and nothing changes', async () => {
    const store = await engine.open()
    const canvas = await planOf(store)
    await canvas.patch([add('/a', 1)])
    const before = (await store.head()).seq
    await expect(canvas.patch([add('/b', 1)], { expect: 0 })).rejects.toMatchObject({
      code: 'CANVAS_CHANGED',
      details: { expect: 0, found: 1 },
    })
    await expect(canvas.replace({}, { expect: 7 })).rejects.toMatchObject({ code: 'CANVAS_CHANGED', details: { expect: 7, found: 1 } })
    await expect(canvas.undo({ expect: 0 })).rejects.toMatchObject({ code: 'CANVAS_CHANGED' })
    expect(await codeOf(canvas.patch([], { expect: -1 }))).toBe('OPTION_INVALID')
    expect(await codeOf(canvas.patch([], { expects: 1 } as never))).toBe('OPTION_INVALID')
    expect((await store.head()).seq).toBe(before)
    expect(await canvas.get()).toEqual({ document: { a: 1 }, version: 1 })
  })

  test('bad input is refused with its code, and nothing is written', async () => {
    const store = await engine.open()
    const canvas = await planOf(store)
    await canvas.replace({ list: [1, 2], a: { b: {} } })
    const before = (await store.head()).seq
    const deep = JSON.parse(`${'['.repeat(57)}${']'.repeat(57)}`)
    const bad: readonly (readonly [string, readonly unknown[]])[] = [
      ['PATCH_TEST_FAILED', [{ op: 'test', path: '/list', value: [1] }]],
      ['PATCH_TEST_FAILED', [add('/new', 1), { op: 'test', path: '/new', value: 2 }]],
      ['PATCH_INVALID', [add('/__proto__/polluted', true)]],
      ['PATCH_FAILED', [add('/constructor/prototype/polluted', true)]],
      ['PATCH_FAILED', [{ op: 'replace', path: '/list/01', value: 3 }]],
      ['PATCH_FAILED', [{ op: 'remove', path: '/list/-' }]],
      ['PATCH_INVALID', [{ op: 'move', from: '/a', path: '/a/b/c' }]],
      ['PATCH_INVALID', [{ op: 'add', path: '/x' }]],
      ['PATCH_INVALID', 'add' as never],
      ['PATCH_TOO_LARGE', Array.from({ length: 1001 }, () => add('/x', 1))],
      ['PATCH_TOO_LARGE', [add('/x', deep)]],
      ['CANVAS_TOO_LARGE', [add('/x', 'x'.repeat(65_536))]],
      ['DATA_INVALID', [add('/x', 'a lone \ud800')]],
    ]
    for (const [code, ops] of bad) expect([code, await codeOf(canvas.patch(ops as readonly PatchOperation[]))]).toEqual([code, code])
    expect(await codeOf(canvas.replace('x'.repeat(65_535)))).toBe('CANVAS_TOO_LARGE')
    expect(await codeOf(canvas.replace(undefined))).toBe('PATCH_INVALID')
    expect(await codeOf(canvas.replace(deep))).toBe('PATCH_TOO_LARGE')
    expect(await codeOf(canvas.restore(2))).toBe('CANVAS_VERSION_UNKNOWN')
    expect(await codeOf(canvas.at({} as never))).toBe('OPTION_INVALID')
    expect(await codeOf(canvas.at({ version: 1, seq: 1 } as never))).toBe('OPTION_INVALID')
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    const session = await store.session('s')
    expect(() => session.canvas('')).toThrow(expect.objectContaining({ code: 'KEY_INVALID' }))
    expect(await codeOf(session.canvas('other').close('done'))).toBe('CANVAS_UNKNOWN')
    expect(await codeOf(session.canvas('other').undo())).toBe('CANVAS_VERSION_UNKNOWN')
    expect((await store.head()).seq).toBe(before)
    expect(await canvas.get()).toEqual({ document: { list: [1, 2], a: { b: {} } }, version: 1 })
    await expectSound(store)
  })

  test('an update beyond the rate of a minute is refused with the time to wait, and accepted after it', async () => {
    const { store, pass } = await engine.openInTime({ canvas: { updatesPerMinute: 5 } })
    const canvas = await planOf(store)
    for (let i = 0; i < 5; i++) await canvas.patch([add('/n', i)])
    const refused = await canvas.patch([add('/n', 5)]).catch((error) => error)
    expect(refused).toMatchObject({ code: 'RATE_LIMITED', kind: 'exhausted', details: { limit: 5 } })
    expect(refused.details.waitMs).toBeGreaterThan(0)
    expect(refused.details.waitMs).toBeLessThanOrEqual(60_000)
    await (await store.session('s')).canvas('another').patch([add('/n', 1)])
    await pass(60_001)
    // Store time is heard with the next answer of a database.
    await (await store.session('s')).append('note.taken', {})
    expect(await canvas.patch([add('/n', 5)])).toEqual({ version: 6 })
    await expectSound(store)
  })

  test('the limits are options of open, and wrong ones are refused', async () => {
    const store = await engine.open({ canvas: { documentBytes: 20 } })
    const canvas = await planOf(store)
    expect(await codeOf(canvas.replace({ text: 'x'.repeat(20) }))).toBe('CANVAS_TOO_LARGE')
    expect(await canvas.replace({ text: 'short' })).toEqual({ version: 1 })
    const largest = await planOf(await engine.open({ canvas: { documentBytes: 261_120 } }), 'largest')
    expect(await largest.replace('x'.repeat(261_118))).toEqual({ version: 1 })
    for (const wrong of [{ documentBytes: 0 }, { documentBytes: 1e9 }, { updatesPerMinute: 0 }, { snapshotEvery: 0.5 }, { bytes: 1 }])
      expect(await codeOf(engine.open({ canvas: wrong as never }))).toBe('OPTION_INVALID')
  })

  test('secrets are masked where the path names them, beside names, and in whole documents, unless redact is false', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const canvas = session.canvas('plan')
    await canvas.replace({ login: { user: 'ada' }, list: [{ name: 'password', value: '' }] })
    await canvas.patch([add('/login/password', 'hunter2-hunter2')])
    await canvas.patch([{ op: 'replace', path: '/list/0/value', value: 'hunter3-hunter3' }])
    await canvas.patch([add('/x', { api_key: 'hunter4-hunter4' }), { op: 'test', path: '/login/user', value: 'ada' }])
    await session.canvas('other').replace({ password: 'hunter5-hunter5' })
    await session.canvas('whole').replace({ password: 'hunter6-hunter6' }, { redact: false })
    await session.canvas('whole').patch([add('/password', 'hunter7-hunter7')], { redact: false })
    await session.canvas('whole').patch([add('/other', 1)])
    const seen = JSON.stringify([await canvas.get(), await session.canvas('other').get(), await all(store.events({ types: ['canvas.*'] }))])
    for (const masked of [2, 3, 4, 5]) expect(seen).not.toContain(`hunter${masked}`)
    expect(seen).toContain('[redacted:')
    expect((await session.canvas('whole').get())?.document).toEqual({ password: 'hunter7-hunter7', other: 1 })
    await expectSound(store)
  })

  test('the history has actor, time, size, patch and inverse of every version, in both directions', async () => {
    const store = await engine.open({ canvas: { snapshotEvery: 2 } })
    const canvas = await planOf(store.as('agent/planner'))
    await canvas.patch([add('/a', [1, 2])])
    await (await planOf(store.as('user/grace'))).patch([{ op: 'remove', path: '/a/0' }, add('/b', 'x')])
    await canvas.replace({ c: 1 })
    const history = await all(canvas.history())
    expect(history.map(({ version, actor, kind, snapshot }) => [version, actor, kind, snapshot])).toEqual([
      [1, 'agent/planner', 'patch', false],
      [2, 'user/grace', 'patch', true],
      [3, 'agent/planner', 'replace', false],
    ])
    for (const { version, inverse, patch, size, documentSize, time, seq } of history) {
      const [now, before] = [await canvas.at({ version }), await canvas.at({ version: version - 1 })]
      expect(applyPatch(now?.document, inverse as readonly PatchOperation[])).toEqual(before?.document)
      expect(applyPatch(before?.document, patch)).toEqual(now?.document)
      expect(size).toBe(JSON.stringify(patch).length)
      expect(documentSize).toBe(JSON.stringify(now?.document).length)
      expect(await canvas.at({ seq })).toEqual(now)
      expect((await canvas.at({ time }))?.version).toBeGreaterThanOrEqual(version)
    }
    const versions = async (options: object) => (await all(canvas.history(options))).map(({ version }) => version)
    expect(await versions({ backwards: true })).toEqual([3, 2, 1])
    expect(await versions({ after: 1 })).toEqual([2, 3])
    expect(await versions({ before: 3, limit: 1 })).toEqual([1])
    expect(await versions({ before: 3, backwards: true, limit: 1 })).toEqual([2])
    expect(await canvas.at({ seq: (history[0]?.seq ?? 0) - 1 })).toBeUndefined()
    expect(await canvas.at({ time: new Date(0) })).toBeUndefined()
    expect(await codeOf(all(canvas.history({ afters: 1 } as never)))).toBe('OPTION_INVALID')
    await expectSound(store)
  })

  test('undo takes back one update after another, and restore brings back any version, each as a new version', async () => {
    const store = await engine.open()
    const canvas = await planOf(store)
    for (const n of [1, 2, 3]) await canvas.patch([add('/n', n)])
    const document = async () => (await canvas.get())?.document
    expect(await canvas.undo()).toEqual({ version: 4 })
    expect(await document()).toEqual({ n: 2 })
    expect(await canvas.undo()).toEqual({ version: 5 })
    expect(await document()).toEqual({ n: 1 })
    await canvas.patch([add('/n', 9)])
    await canvas.undo()
    expect(await document()).toEqual({ n: 1 })
    await canvas.undo()
    expect(await document()).toEqual({})
    await expect(canvas.undo()).rejects.toThrow('has no version to go back to: there is nothing to undo')
    expect(await canvas.restore(3)).toEqual({ version: 9 })
    expect(await document()).toEqual({ n: 3 })
    await canvas.undo()
    expect(await document()).toEqual({})
    expect((await all(canvas.history())).map(({ kind, to }) => (to === undefined ? kind : `${kind} ${to}`))).toEqual([
      ...['patch', 'patch', 'patch', 'undo 2', 'undo 1', 'patch', 'undo 5', 'undo 0', 'restore 3', 'undo 8'],
    ])
    await expectSound(store)
  })

  test('a closed canvas is read as before and refuses every update with the reason', async () => {
    const store = await engine.open()
    const canvas = await planOf(store)
    await canvas.patch([add('/a', 1)])
    expect(await canvas.close('shipped')).toEqual({ version: 1 })
    expect(await canvas.close('again')).toEqual({ version: 1 })
    for (const update of [() => canvas.patch([add('/b', 1)]), () => canvas.replace({}), () => canvas.undo(), () => canvas.restore(0)])
      await expect(update()).rejects.toMatchObject({ code: 'CANVAS_CLOSED', details: { reason: 'shipped', version: 1 } })
    expect(await codeOf(canvas.close(''))).toBe('OPTION_INVALID')
    expect(await canvas.get()).toEqual({ document: { a: 1 }, version: 1 })
    expect((await (await store.session('s')).canvases()).items[0]).toMatchObject({ state: 'closed', reason: 'shipped' })
    await expectSound(store)
  })

  test('two writers that expect the same version: exactly one wins; without an expectation both do', async () => {
    const store = await engine.open()
    const [one, other] = [await planOf(store.as('one')), await planOf(store.as('other'))]
    await one.patch([add('/winner', 'nobody'), add('/list', [])])
    for (let version = 1; version <= 10; version++) {
      const told = await Promise.allSettled(
        [one, other].map((canvas, i) => canvas.patch([{ op: 'replace', path: '/winner', value: i }], { expect: version })),
      )
      expect(told.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const lost = told.find((one): one is PromiseRejectedResult => one.status === 'rejected')
      expect(lost?.reason).toMatchObject({ code: 'CANVAS_CHANGED', details: { expect: version, found: version + 1 } })
    }
    await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? one : other).patch([add('/list/-', i)])))
    const { document, version } = (await one.get()) as { document: { list: number[] }; version: number }
    expect(version).toBe(31)
    expect(document.list.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i))
    await expectSound(store)
  })

  test('updates that wait together are versions of their own, and one that is refused does not hold up the others', async () => {
    const store = await engine.open({ canvas: { updatesPerMinute: 10, snapshotEvery: 4 } })
    const canvas = await planOf(store)
    await canvas.patch([add('/list', [])])
    const told = await Promise.allSettled(
      Array.from({ length: 14 }, (_, i) =>
        canvas.patch([...(i === 3 ? [{ op: 'test', path: '/list', value: 'no list' } as const] : []), add('/list/-', i)]),
      ),
    )
    const versions = told.flatMap((one) => (one.status === 'fulfilled' ? [one.value.version] : []))
    const codes = told.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
    expect(versions).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(codes.toSorted()).toEqual(['PATCH_TEST_FAILED', ...Array.from({ length: 4 }, () => 'RATE_LIMITED')])
    expect(await canvas.get()).toEqual({ document: { list: [0, 1, 2, 4, 5, 6, 7, 8, 9] }, version: 10 })
    expect((await all(canvas.history())).map(({ version, snapshot }) => (snapshot ? version : 0)).filter(Boolean)).toEqual([4, 8])
    await expectSound(store)
  })

  test('canvases are listed by session and by store, with a cursor', async () => {
    const store = await engine.open()
    const [a, b] = [await store.session('a'), await store.session('b')]
    for (const name of ['z', 'x', 'y']) await a.canvas(name).replace({ name })
    await b.canvas('only').replace({})
    expect((await a.canvases()).items.map(({ name, version }) => [name, version])).toEqual([
      ['x', 1],
      ['y', 1],
      ['z', 1],
    ])
    const page = await store.canvases.list({ last: 3 })
    expect(page.items.map(({ name }) => name)).toEqual(['only', 'y', 'x'])
    expect((await store.canvases.list({ last: 3, cursor: page.cursor as string })).items.map(({ name }) => name)).toEqual(['z'])
    expect((await store.canvases.list({ session: b.id })).items.map(({ name }) => name)).toEqual(['only'])
    expect(await codeOf(store.canvases.list({ mispelt: 1 } as never))).toBe('OPTION_INVALID')
    expect((await store.canvases.list({ session: 'no session has this key' })).items).toEqual([])
  })

  test('a deleted session takes its canvases along, and an archived one refuses updates', async () => {
    const store = await engine.open({ canvas: { snapshotEvery: 1 } })
    const session = await store.session('s')
    const canvas = session.canvas('plan')
    await canvas.replace({ name: 'ada lovelace' })
    await session.archive()
    expect(await codeOf(canvas.patch([add('/a', 1)]))).toBe('SESSION_ARCHIVED')
    await session.reopen()
    await session.delete({ reason: 'asked for' })
    expect(await codeOf(canvas.get())).toBe('SESSION_DELETED')
    expect((await store.canvases.list()).items).toEqual([])
    expect(await codeOf(canvas.patch([add('/a', 1)]))).toBe('SESSION_DELETED')
    expect(JSON.stringify(await all(store.events()))).not.toContain('lovelace')
    await expectSound(store)
  })
})
