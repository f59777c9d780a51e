// Canvases whose rows or events were changed on the disk: damage stays with the canvas, and the error names the version.

import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { Canvas, PatchOperation, Session } from '../../src/index.ts'
import { codeOf, openIn, tempFile } from '../support/engines.ts'

const add = (path: string, value: unknown): PatchOperation => ({ op: 'add', path, value })

const NAMES = ['plan', 'sound']
const WHOLE = { document: Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`n${n + 1}`, n + 1])), version: 10 }

const all = async <T>(items: AsyncIterable<T>): Promise<readonly T[]> => {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

/** A file with two canvases of ten versions each, in which the statement has damaged one. */
async function damaged(statement: string): Promise<string> {
  const file = tempFile()
  const store = await openIn(file, { canvas: { snapshotEvery: 4 } })
  const session = await store.session('s')
  for (const name of NAMES) for (let n = 1; n <= 10; n++) await session.canvas(name).patch([add(`/n${n}`, n)])
  await store.close()
  const db = new DatabaseSync(file)
  const guards = db.prepare(`select name, sql from sqlite_master where type = 'trigger'`).all()
  for (const { name } of guards) db.exec(`drop trigger ${name}`)
  expect(db.prepare(statement).run().changes).toBeGreaterThan(0)
  for (const { sql } of guards) db.exec(sql as string)
  db.close()
  return file
}

async function opened(statement: string): Promise<{ store: Awaited<ReturnType<typeof openIn>>; session: Session; plan: Canvas }> {
  const store = await openIn(await damaged(statement), { canvas: { snapshotEvery: 4 } })
  const session = await store.session('s')
  return { store, session, plan: session.canvas('plan') }
}

const ID = `(select id from canvases where name = 'plan')`
const PATCHES = `select seq from events where type = 'canvas.patched' and json_extract(payload, '$.ops[0].path')`
/** The event that made this version of the canvas that was written first. */
const event = (version: number) => `seq = (${PATCHES} = '/n${version}' order by seq limit 1)`

test.each([
  ['no JSON', `update canvas_snapshots set body = '{' where canvas = ${ID}`],
  ['no snapshot', `update canvas_snapshots set body = '[]' where canvas = ${ID}`],
  ['without their values', 'delete from nodes'],
])('snapshots that are %s are passed over', async (_, statement) => {
  const { store, plan } = await opened(statement)
  expect(await plan.get()).toEqual(WHOLE)
  expect((await plan.at({ version: 9 }))?.version).toBe(9)
  expect((await plan.compact()).kept).toBeLessThan(3)
  expect(await plan.patch([add('/more', 1)])).toEqual({ version: 11 })
  expect(await store.canvases.recover()).toMatchObject({ loaded: 2, damaged: [] })
})

test.each(['{', 'null'])('a row that is %s is folded again from its events', async (body) => {
  const { store, session, plan } = await opened(`update canvases set body = '${body}' where name = 'plan'`)
  expect(await store.canvases.recover()).toMatchObject({ loaded: 2, damaged: [] })
  const names = NAMES.map((name) => expect.objectContaining({ name, version: 10 }))
  expect((await session.canvases()).items).toEqual(names)
  expect((await store.canvases.list()).items).toEqual(names.toReversed())
  expect(await plan.get()).toEqual(WHOLE)
  const fork = await session.fork({ at: (await store.head()).seq, key: 'fork' })
  expect(await fork.canvas('plan').get()).toEqual(WHOLE)
  expect(await fork.canvas('plan').at({ version: 3 })).toMatchObject({ version: 3 })
  expect(await store.canvases.compact()).toMatchObject({ dropped: expect.any(Number) })
  expect(await plan.patch([add('/more', 1)], { expect: 10 })).toEqual({ version: 11 })
  expect(await store.rebuild({ check: true })).toMatchObject({ equal: true })
})

test.each([
  ['no JSON', `update events set payload = '{' where ${event(10)}`],
  ['no update', `update events set payload = 'null' where ${event(10)}`],
])('a patch that is %s damages its version, and the rest can be read', async (_, statement) => {
  const { store, session, plan } = await opened(statement)
  await expect(plan.get()).rejects.toMatchObject({ code: 'CANVAS_DAMAGED', details: { canvas: 'plan', version: 10 } })
  expect(await store.canvases.recover()).toMatchObject({ loaded: 1, damaged: [{ name: 'plan', version: 10 }] })
  const history = await all(plan.history({ backwards: true }))
  expect(history.map(({ version, damaged }) => [version, damaged === true])).toEqual(
    Array.from({ length: 10 }, (_, n) => [10 - n, n === 0]),
  )
  const seq = history[1]?.seq as number
  expect(await plan.at({ seq })).toMatchObject({ version: 9 })
  expect(await codeOf(plan.at({ seq: seq + 1 }))).toBe('CANVAS_DAMAGED')
  expect(await session.canvas('sound').get()).toEqual(WHOLE)
  expect(await plan.undo()).toEqual({ version: 11 })
  expect((await plan.get())?.document).toEqual({ ...WHOLE.document, n10: undefined })
})

test('a version whose event is missing is damaged, and those behind it are not taken for it', async () => {
  const { plan } = await opened(`delete from events where ${event(6)}`)
  for (const version of [6, 7])
    await expect(plan.at({ version })).rejects.toMatchObject({ code: 'CANVAS_DAMAGED', details: { version: 6 } })
  expect((await plan.at({ version: 5 }))?.version).toBe(5)
  expect(await plan.get()).toEqual(WHOLE)
  await plan.compact()
  expect(await plan.at({ version: 9 })).toMatchObject({ version: 9, document: { n6: 6, n7: 7 } })
  expect((await all(plan.history())).map(({ version }) => version)).toEqual([1, 2, 3, 4, 5, 7, 8, 9, 10])
})
