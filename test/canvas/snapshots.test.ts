// Snapshots of canvases: any version is the replay of all patches, a fork begins with its own, and damage stays where it is.

import { describe, expect, test } from 'vitest'
import { chance } from '../../src/conformance/chance.ts'
import { applyPatch, type Canvas, type PatchOperation, type Session, type Store } from '../../src/index.ts'
import { codeOf, engines, expectSound, lentDatabase, openIn, tempFile } from '../support/engines.ts'
import { rounds, seeds } from '../support/rounds.ts'

const add = (path: string, value: unknown): PatchOperation => ({ op: 'add', path, value })
const FREE = { updatesPerMinute: Infinity }

const all = async <T>(items: AsyncIterable<T>): Promise<readonly T[]> => {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

/** Makes the store read again what it has in memory: every erasure does. */
async function forget(store: Store): Promise<void> {
  const { seq } = await (await store.session('other')).append('note.taken', {})
  await store.erase({ seq, reason: 'a test' })
}

const countSnapshots = async (store: Store): Promise<number> => {
  const taken = await all(store.events({ types: ['canvas.snapshotted'] }))
  const dropped = await all(store.events({ types: ['canvas.compacted'] }))
  return taken.length - dropped.length
}

const seqOf = async (canvas: Canvas, version: number): Promise<number> =>
  (await all(canvas.history({ after: version - 1, limit: 1 })))[0]?.seq as number

describe.each(engines)('on $name', (engine) => {
  test.each(seeds(1, 10))('every version equals the replay of all patches, with any snapshots and compactions: seed %i', async (seed) => {
    const { int } = chance(seed)
    const store = await engine.open({ canvas: { ...FREE, snapshotEvery: 1 + int(7) } })
    const canvas = (await store.session('s')).canvas('plan')
    const replayed: unknown[] = [{}]
    const steps = rounds(40, 300)
    for (let i = 0; i < steps; i++) {
      const now = replayed.at(-1) as Record<string, unknown>
      const move = int(12)
      if (move === 0) await canvas.compact()
      else if (move === 1) await forget(store)
      else if (move === 2) {
        const { version } = await canvas.restore(int(replayed.length)).catch(() => ({ version: replayed.length - 1 }))
        if (version === replayed.length) replayed.push((await canvas.get())?.document)
      } else if (move === 3) {
        const next = { ...now, [`k${int(4)}`]: { n: i, list: Array.from({ length: int(5) }, (_, n) => n) } }
        const { version } = await canvas.replace(next)
        if (version === replayed.length) replayed.push(next)
      } else {
        const ops = [add(`/k${int(4)}`, { n: i, text: 'x'.repeat(int(40)) }), ...(move > 8 ? [add('/list', [i])] : [])]
        await canvas.patch(ops)
        replayed.push(applyPatch(now, ops))
      }
    }
    for (const fresh of [false, true]) {
      if (fresh) await forget(store)
      for (const [version, document] of replayed.entries())
        if (fresh || version % 3 === 0) expect([version, await canvas.at({ version })]).toEqual([version, { document, version }])
    }
    let document: unknown = {}
    for (const { version, patch } of await all(canvas.history())) {
      document = applyPatch(document, patch)
      expect(document).toEqual(replayed[version])
    }
    await expectSound(store)
  })

  test('a snapshot is taken every so many patches, at close and at restore, and compaction drops what is not needed', async () => {
    const store = await engine.open({ canvas: { ...FREE, snapshotEvery: 4 } })
    const canvas = (await store.session('s')).canvas('plan')
    for (let n = 1; n <= 11; n++) await canvas.patch([add(`/n${n}`, n)])
    expect(await countSnapshots(store)).toBe(2)
    await canvas.restore(3)
    await canvas.patch([add('/late', true)])
    await canvas.close('done')
    expect(await countSnapshots(store)).toBe(4)
    const before = await Promise.all(Array.from({ length: 14 }, (_, version) => canvas.at({ version })))
    expect(await canvas.compact()).toEqual({ dropped: 3, kept: 1 })
    expect(await canvas.compact()).toEqual({ dropped: 0, kept: 1 })
    await store.collect({ grace: 0 })
    await forget(store)
    expect(await Promise.all(Array.from({ length: 14 }, (_, version) => canvas.at({ version })))).toEqual(before)
    expect(await store.maintain()).toMatchObject({ canvasSnapshotsDropped: 0 })
    await expectSound(store)
  })

  test('a patch that was erased damages its canvas up to the next snapshot and nothing else, and the error names the version', async () => {
    const store = await engine.open({ canvas: { ...FREE, snapshotEvery: 4 } })
    const session = await store.session('s')
    const [canvas, other] = [session.canvas('plan'), session.canvas('other')]
    for (let n = 1; n <= 10; n++) await canvas.patch([add(`/n${n}`, n)])
    await other.patch([add('/fine', true)])
    await store.erase({ seq: await seqOf(canvas, 6), reason: 'asked for' })
    expect((await canvas.get())?.version).toBe(10)
    expect(((await canvas.at({ version: 5 }))?.document as object) ?? {}).toEqual({ n1: 1, n2: 2, n3: 3, n4: 4, n5: 5 })
    await expect(canvas.at({ version: 7 })).rejects.toMatchObject({ code: 'CANVAS_DAMAGED', details: { canvas: 'plan', version: 6 } })
    expect((await canvas.at({ version: 8 }))?.version).toBe(8)
    expect((await canvas.compact()).kept).toBeGreaterThanOrEqual(1)
    expect((await canvas.at({ version: 9 }))?.version).toBe(9)
    expect((await all(canvas.history())).map(({ erased }) => erased === true)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((n) => n === 6))

    await store.erase({ seq: await seqOf(canvas, 10), reason: 'asked for' })
    await expect(canvas.get()).rejects.toMatchObject({ code: 'CANVAS_DAMAGED', details: { version: 10 } })
    expect(await codeOf(canvas.patch([add('/a', 1)]))).toBe('CANVAS_DAMAGED')
    const report = await store.canvases.recover()
    expect(report).toMatchObject({ loaded: 1, damaged: [{ name: 'plan', version: 10 }], more: false })
    expect((await other.get())?.document).toEqual({ fine: true })
    expect((await session.fork({ at: (await store.head()).seq, key: 'f' }).then((fork) => fork.canvases())).items).toHaveLength(1)
    await canvas.close('damaged')
    await expectSound(store)
  })

  test('a damaged canvas goes on with a new document or an earlier version, and every version around the damage reads back', async () => {
    const store = await engine.open({ canvas: FREE })
    const session = await store.session('s')
    const canvas = session.canvas('plan')
    const damage = async () =>
      store.erase({ seq: await seqOf(canvas, (await session.canvases()).items[0]?.version ?? 0), reason: 'asked for' })
    for (let n = 1; n <= 3; n++) await canvas.patch([add(`/n${n}`, n)])
    await damage()
    const needing: readonly (readonly PatchOperation[])[] = [
      [add('/a', 1)],
      [{ op: 'test', path: '', value: {} }],
      [{ op: 'copy', from: '', path: '/a' }],
      [{ op: 'move', from: '', path: '' }],
    ]
    for (const ops of needing) expect([ops, await codeOf(canvas.patch(ops))]).toEqual([ops, 'CANVAS_DAMAGED'])
    expect(await canvas.undo()).toEqual({ version: 4 })
    expect(await canvas.get()).toEqual({ document: { n1: 1, n2: 2 }, version: 4 })
    await canvas.patch([add('/more', true)])
    await damage()
    const together = await Promise.allSettled([
      canvas.patch([add('/lost', 1)]),
      canvas.replace({ fresh: 1 }),
      canvas.patch([add('/then', 1)]),
    ])
    expect(together.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
    await damage()
    expect(await canvas.restore(6)).toEqual({ version: 8 })
    await damage()
    expect(await session.run('turn').then((run) => run.canvas('plan').replace({ by: 'a run' }))).toEqual({ version: 9 })
    await canvas.patch([add('/last', 1)])
    const read = () => Promise.all(Array.from({ length: 11 }, (_, version) => canvas.at({ version }).catch(({ code }) => code)))
    const seen = await read()
    const documents = [
      {},
      { n1: 1 },
      { n1: 1, n2: 2 },
      3,
      { n1: 1, n2: 2 },
      5,
      { fresh: 1 },
      7,
      { fresh: 1 }, // its patch was erased, its snapshot was not
      { by: 'a run' },
      { by: 'a run', last: 1 },
    ]
    expect(seen).toEqual(documents.map((document, version) => (document === version ? 'CANVAS_DAMAGED' : { document, version })))
    await canvas.compact()
    await forget(store)
    expect(await read()).toEqual(seen)
    expect((await all(canvas.history())).flatMap(({ version, erased }) => (erased ? [version] : []))).toEqual([3, 5, 7, 8])
    await expectSound(store)
  })

  test('a canvas whose first event was erased has its name again with the next update', async () => {
    const store = await engine.open({ canvas: FREE })
    const session = await store.session('s')
    const canvas = session.canvas('plan')
    await canvas.replace({ a: 1 })
    await store.erase({ seq: await seqOf(canvas, 1), reason: 'asked for' })
    await expect(canvas.get()).rejects.toMatchObject({ code: 'CANVAS_DAMAGED', details: { canvas: 'plan', version: 1 } })
    const names = async () => (await session.canvases()).items.map(({ name }) => name)
    expect(await names()).toEqual([''])
    await canvas.replace({ b: 1 })
    expect(await names()).toEqual(['plan'])
    const fork = await session.fork({ at: (await store.head()).seq, key: 'fork' })
    expect(await fork.canvas('plan').get()).toEqual({ document: { b: 1 }, version: 2 })
    await expectSound(store)
  })

  test('recovery loads as many as it may, the newest first, and the others open on demand', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    for (let n = 0; n < 5; n++) await session.canvas(`c${n}`).patch([add('/n', n)])
    expect(await store.canvases.recover({ most: 3 })).toEqual({ loaded: 3, damaged: [], more: true })
    await forget(store)
    for (let n = 0; n < 5; n++) expect((await session.canvas(`c${n}`).get())?.document).toEqual({ n })
    expect(await codeOf(store.canvases.recover({ most: 10_001 }))).toBe('OPTION_INVALID')
  })

  test('a fork begins with its canvases as they stood at the fork point, and outlives its source', async () => {
    const store = await engine.open({ canvas: { ...FREE, snapshotEvery: 3 } })
    const source = await store.session('source')
    const read = async (of: Session, name = 'plan') => of.canvas(name).get()
    for (let n = 1; n <= 5; n++) await source.canvas('plan').patch([add(`/n${n}`, n)])
    await source.canvas('closed').replace({ c: 1 })
    await source.canvas('closed').close('over')
    const { seq: at } = await store.head()
    await source.canvas('plan').patch([add('/late', 1)])
    await source.canvas('late').replace({})
    const fork = await source.fork({ at, key: 'fork' })
    const five = { document: { n1: 1, n2: 2, n3: 3, n4: 4, n5: 5 }, version: 5 }
    expect(await read(fork)).toEqual(five)
    expect((await fork.canvases()).items.map(({ name, version, state }) => [name, version, state])).toEqual([
      ['closed', 1, 'closed'],
      ['plan', 5, 'open'],
    ])
    expect(await codeOf(fork.canvas('closed').patch([add('/a', 1)]))).toBe('CANVAS_CLOSED')
    expect((await fork.canvas('plan').at({ version: 2 }))?.document).toEqual({ n1: 1, n2: 2 })
    await fork.canvas('plan').undo()
    expect((await read(fork))?.document).toEqual({ n1: 1, n2: 2, n3: 3, n4: 4 })
    await fork.canvas('plan').patch([add('/own', true)])
    expect((await read(source))?.document).toEqual({ ...five.document, late: 1 })
    const undone = source.canvas('undone')
    for (const n of [1, 2]) await undone.patch([add('/n', n)])
    await undone.undo()
    await undone.patch([add('/n', 3)])
    const later = (await source.fork({ at: (await store.head()).seq, key: 'later' })).canvas('undone')
    for (const document of [{ n: 1 }, {}]) {
      await later.undo()
      expect((await later.get())?.document).toEqual(document)
    }
    expect(await codeOf(later.undo())).toBe('CANVAS_VERSION_UNKNOWN')
    const again = await fork.fork({ at, key: 'again' })
    expect(await read(again)).toEqual(five)

    await source.delete({ reason: 'over' })
    await store.collect({ grace: 0 })
    await forget(store)
    expect((await read(fork))?.document).toEqual({ n1: 1, n2: 2, n3: 3, n4: 4, own: true })
    expect(await fork.canvas('plan').at({ version: 5 })).toEqual(five)
    expect(await codeOf(fork.canvas('plan').at({ version: 2 }))).toBe('CANVAS_VERSION_UNKNOWN')
    expect(await fork.canvas('plan').at({ version: 0 })).toEqual({ document: {}, version: 0 })
    const missed = fork.canvas('plan').subscribe({ from: 2 })
    expect((await missed.next()).value).toEqual({ snapshot: (await read(fork))?.document, version: 7 })
    await missed.return()
    await expectSound(store)
  })
})

test.each([
  ['SQLite', async () => tempFile()],
  ['PostgreSQL', lentDatabase],
])('more than a thousand canvases are there after opening again, on %s', async (_, make) => {
  const url = await make()
  const first = await openIn(url)
  const session = await first.session('s')
  const names = Array.from({ length: 1001 }, (_, n) => `c${n}`)
  await Promise.all(names.map((name, n) => session.canvas(name).replace({ n })))
  await first.close()
  const store = await openIn(url)
  const again = await store.session('s')
  expect(await store.canvases.recover()).toEqual({ loaded: 1001, damaged: [], more: false })
  const found = await Promise.all(names.map((name) => again.canvas(name).get()))
  expect(found).toEqual(names.map((_, n) => ({ document: { n }, version: 1 })))
})

test('two concurrent forks of a session with many canvases under one key leave no canvases of a missing session', async () => {
  const store = await openIn(':memory:')
  const source = await store.session('source')
  const COUNT = 510
  await Promise.all(Array.from({ length: COUNT }, (_, n) => source.canvas(`c${n}`).replace({ n })))
  const { seq: at } = await store.head()
  const forks = await Promise.all([1, 2].map(() => source.fork({ at, key: 'fork' })))
  const sessions = new Map<string, number>()
  for (let cursor: string | undefined, more = true; more; ) {
    const page = await store.canvases.list({ last: 1000, ...(cursor !== undefined && { cursor }) })
    for (const { session } of page.items) sessions.set(session, (sessions.get(session) ?? 0) + 1)
    cursor = page.cursor
    more = cursor !== undefined
  }
  expect(Object.fromEntries(sessions)).toEqual({ [source.id]: COUNT, [forks[0]?.id ?? '']: COUNT })
  expect(await forks[1]?.canvas('c509').get()).toEqual({ document: { n: 509 }, version: 1 })
  await expectSound(store)
})

test.each([
  ['SQLite', async () => tempFile()],
  ['PostgreSQL', lentDatabase],
] as const)('a patch that was erased after its snapshots is read by no process: %s', async (_, place) => {
  const url = await place()
  const [store, other] = [await openIn(url, { canvas: { snapshotEvery: 2 } }), await openIn(url)]
  const canvas = (await store.session('s')).canvas('plan')
  const elsewhere = (await other.session('s')).canvas('plan')
  for (const n of [1, 2, 3]) await canvas.patch([add(`/n${n}`, n)])
  for (const one of [canvas, elsewhere]) expect((await one.get())?.document).toEqual({ n1: 1, n2: 2, n3: 3 })
  for (const { seq } of await all(store.events({ types: ['canvas.snapshotted'] }))) await store.erase({ seq, reason: 'asked for' })
  await store.erase({ seq: await seqOf(canvas, 1), reason: 'asked for' })
  expect((await store.collect({ grace: 0 })).deleted.nodes).toBe(1)
  for (const one of [canvas, elsewhere]) {
    for (const version of [1, 2, 3]) expect(await codeOf(one.at({ version }))).toBe('CANVAS_DAMAGED')
    const seen = JSON.stringify([await all(one.history()), await one.replace({ clean: one === canvas }), await one.get()])
    expect(seen).not.toContain('n1')
  }
  await expectSound(store)
})
