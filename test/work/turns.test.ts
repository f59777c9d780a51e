// Whose turn it is in a group is marked in the rows, so that nobody has to pass by those that wait. The mark follows from the rows: whatever
// becomes of an item, the next one has its turn, and a mark that somebody changed lets nobody in.

import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import type { Store } from '../../src/index.ts'
import { asSuperuser } from '../postgres/logins.ts'
import { engines, expectSound, openIn, tempDatabase, tempFile } from '../support/engines.ts'

const groups = async (store: Store, ...names: readonly string[]) => {
  const outbox = store.queue<string>('outbox')
  const ids: Record<string, string> = {}
  for (const name of names) ids[name] = (await outbox.offer(name, { group: name.charAt(0), attempts: 1 })).id
  return { outbox, ids }
}

describe.each(engines)('the next of a group on $name', (engine) => {
  test('has its turn when the one before is completed, dies, is cancelled, or is brought back behind it', async () => {
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
    url: tempDatabase,
    write: async (url: string, sql: string) => void (await asSuperuser(url, (superuser) => superuser.query(sql))),
  },
]

describe.each(places)('a mark that somebody changed on $name', ({ url, write }) => {
  test('lets nobody in before their turn, is told by rebuild --check, and is right again after a rebuild', async () => {
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

  test('is made anew with rows that are folded anew, in whatever order they come', async () => {
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
