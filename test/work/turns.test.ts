// Whose turn it is in a group is marked in the rows, so that nobody has to pass by those that wait. The mark follows from the rows: whatever
// becomes of an item, the next one has its turn, and a mark that somebody changed lets nobody in.

import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { sqliteBackend } from '../../src/backends/sqlite/backend.ts'
import { maker, put } from '../../src/conformance/material.ts'
import type { Store } from '../../src/index.ts'
import { MAIN } from '../../src/model/ids.ts'
import { asSuperuser } from '../postgres/logins.ts'
import { engines, expectSound, later, lentBackend, lentDatabase, openIn, tempFile } from '../support/engines.ts'

const groups = async (store: Store, ...names: readonly string[]) => {
  const outbox = store.queue<string>('outbox')
  const ids: Record<string, string> = {}
  for (const name of names) ids[name] = (await outbox.offer(name, { group: name.charAt(0), attempts: 1 })).id
  return { outbox, ids }
}

describe.each(engines)('the next of a group on $name', (engine) => {
  test('the next item of a group has its turn when the one before is completed, dies, is cancelled, or is brought back behind it', async () => {
    const store = await engine.open()
    const { outbox, ids } = await groups(store, 'a1', 'a2', 'a3', 'a4', 'b1')
    const next = async (name: string) => {
      await expectSound(store)
      const claim = await outbox.claim()
      expect(claim?.payload).toBe(name)
      return claim
    }
    await (await next('a1'))?.complete()
    await (await next('a2'))?.fail(new Error('no'))
    await outbox.cancel(String(ids.a3), { reason: 'not wanted' })
    await outbox.redrive()
    const a4 = await next('a4')
    await (await next('b1'))?.complete()
    expect(await outbox.tryClaim()).toEqual({ why: 'blocked' })
    await a4?.complete()
    await (await next('a2'))?.complete()
    expect(await outbox.tryClaim()).toEqual({ why: 'empty' })
    await expectSound(store)
  })
})

const places = [
  {
    name: 'SQLite',
    url: async () => tempFile(),
    write: async (path: string, sql: string) => {
      using db = new DatabaseSync(path)
      db.exec(`pragma busy_timeout = 5000; ${sql.replace('inkfast.work', 'work')}`)
    },
  },
  {
    name: 'PostgreSQL',
    url: lentDatabase,
    write: async (url: string, sql: string) => void (await asSuperuser(url, (superuser) => superuser.query(sql))),
  },
]

describe.each(places)('a mark that somebody changed on $name', ({ url, write }) => {
  test('a mark that somebody changed lets nobody in before their turn, is told by rebuild --check, and is right again after a rebuild', async () => {
    const place = await url()
    const store = await openIn(place)
    const { outbox, ids } = await groups(store, 'a1', 'a2')
    await write(place, 'update inkfast.work set behind = true')
    expect(await outbox.claim()).toBeUndefined()
    expect(await store.rebuild()).toMatchObject({ equal: false, differences: [{ table: 'work', id: ids.a1, stored: { astray: true } }] })
    await expectSound(store)
    expect((await outbox.claim())?.payload).toBe('a1')

    await write(place, 'update inkfast.work set behind = false')
    expect(await outbox.tryClaim()).toEqual({ why: 'blocked' })
    expect(await store.rebuild({ check: true })).toMatchObject({ equal: false, differences: [{ table: 'work', id: ids.a2 }] })
  })

  test('a mark that somebody changed is made anew with rows that are folded anew, in whatever order they come', async () => {
    const place = await url()
    const store = await openIn(place)
    const { outbox } = await groups(store, 'a1', 'a2', 'b1', 'b2', 'a3', 'a4')
    await (await outbox.claim())?.complete()
    await write(place, `update inkfast.work set body = '{}'`)
    expect(await store.rebuild()).toMatchObject({ equal: false })
    await expectSound(store)
    const left: string[] = []
    for (let claim = await outbox.claim(); claim; claim = await outbox.claim()) {
      left.push(claim.payload)
      await claim.complete()
    }
    expect(left).toEqual(['a2', 'b1', 'b2', 'a3', 'a4'])
  })
})

describe.each([
  { name: 'SQLite', open: async () => sqliteBackend({ path: tempFile(), now: () => Date.now() }) },
  { name: 'PostgreSQL', open: async () => lentBackend(await lentDatabase()) },
])('many at once on $name', ({ open }) => {
  const item = (series: string | null, state = 'ready') => ({ queue: 'q', state, priority: 0, at: 1, series })

  /** Rows that are put or removed together, by one commit. */
  const commits = async () => {
    const backend = await open()
    later(() => backend.close())
    const make = maker()
    const revisions = new Map<string, number>()
    const change = async (rows: Readonly<Record<string, ReturnType<typeof item> | null>>) => {
      const ids = Object.keys(rows)
      const [outcome] = await backend.commit([
        make.commit(MAIN, {
          guards: ids.map((id) => ({ kind: 'row', table: 'work', id, revision: revisions.get(id) ?? 0 })),
          changes: ids.map((id) => {
            const body = rows[id]
            return body ? put('work', id, body) : { kind: 'remove', table: 'work', id }
          }),
        }),
      ])
      const seq = outcome?.ok ? (outcome.receipts[0]?.seq ?? 0) : 0
      expect(seq).toBeGreaterThan(0)
      for (const id of ids) revisions.set(id, rows[id] ? seq : 0)
    }
    const astray = async () => {
      const snapshot = await backend.upkeep.snapshot(MAIN)
      const rows = await snapshot.rows('work', undefined, 1000)
      await snapshot.close()
      return rows.filter((row) => row.astray).map(({ id }) => id)
    }
    const ready = async () => (await backend.queries.ready(MAIN, 'q', 9)).rows.map(({ id }) => id)
    return { change, astray, ready }
  }

  test.each([
    ['come to life', item('s', 'dead')],
    ['come from another series', item('t')],
    ['come from none', item(null)],
  ])('items that %s before the first of a series leave one in front', async (_, before) => {
    const { change, astray, ready } = await commits()
    await change({ a: before })
    await change({ b: before })
    await change({ c: before })
    await change({ h: item('s') })
    await change({ c: item('s'), b: item('s'), a: item('s') })
    expect(await astray()).toEqual([])
    expect(await ready()).toEqual(['a'])
    await change({ a: item('s', 'dead'), b: null })
    expect(await astray()).toEqual([])
    expect(await ready()).toEqual(['c'])
    await change({ c: item(null), h: item(null) })
    expect(await astray()).toEqual([])
    expect(await ready()).toEqual(['c', 'h'])
  })

  test('items that come in any order of their ids, and those that go together, leave one in front', async () => {
    const { change, astray, ready } = await commits()
    await change({ z: item('s'), m: item('s'), a: item('s') })
    await change({ n: item('s'), b: item('s') })
    expect(await astray()).toEqual([])
    expect(await ready()).toEqual(['a'])
    await change({ a: null, m: null, z: item('s', 'dead'), y: item('s') })
    expect(await astray()).toEqual([])
    expect(await ready()).toEqual(['b'])
    await change({ b: null, n: null, y: null, z: null })
    expect(await ready()).toEqual([])
  })
})

describe.each(places)('a rebuild on $name', ({ url, write }) => {
  test('a rebuild gives everybody their turn again, also those that were redriven and are younger than their ids', async () => {
    const place = await url()
    const store = await openIn(place)
    const outbox = store.queue<string>('outbox')
    await outbox.offer('first', { group: 'g', attempts: 1, priority: 9 })
    for (let n = 0; n < 600; n += 100) await Promise.all(Array.from({ length: 100 }, () => outbox.offer('other')))
    for (const name of ['second', 'third', 'fourth']) await outbox.offer(name, { group: 'g', priority: 9 })
    await (await outbox.claim())?.fail(new Error('no'))
    await outbox.redrive()
    await write(place, `update inkfast.work set body = '{}'`)
    expect(await store.rebuild()).toMatchObject({ equal: false })
    await expectSound(store)
    const claims = [await outbox.claim(), await outbox.claim()]
    expect(claims.map((claim) => claim?.payload)).toEqual(['second', 'other'])
  })
})
