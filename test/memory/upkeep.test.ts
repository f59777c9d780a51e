// Maintenance of memory on every engine, purges that leave nothing behind, and recall in runs.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { freshMemory, handleTo } from '../../src/conformance/shared-memory.ts'
import { open as openStore, type Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import type { Commit } from '../../src/ports/commit.ts'
import { codeOf, engines, expectSound, later, layouts, tempDatabase, tempFile } from '../support/engines.ts'
import { rowsBy } from '../support/row-reads.ts'

const texts = async (store: Awaited<ReturnType<typeof openStore>>) => (await store.memory.list()).items.map(({ text }) => text)

describe.each(layouts)('space of memory on $name', ({ name, open, openInTime }) => {
  test('the space of removed items is given back when a time of the cron line has come', async () => {
    const { store, pass } = await openInTime({ memory: { vacuum: '0 12 * * *' } })
    for (let i = 0; i < 40; i++) await store.memory.remember(`item ${i} ${'of many words '.repeat(500)}`, { about: 'user/ada' })
    await store.memory.purge({ about: 'user/ada' })
    expect(await store.memory.maintain()).not.toHaveProperty('vacuumed')
    await pass(24 * 3_600_000)
    const { vacuumed } = await store.memory.maintain()
    // Only SQLite has a file that becomes smaller.
    if (name.startsWith('sqlite')) expect(vacuumed).toBeGreaterThan(0)
    else expect(vacuumed).toBe(0)
    expect(await store.maintain()).not.toHaveProperty('memoryVacuumed')
    expect(await codeOf(open({ memory: { vacuum: 'sometimes' } }))).toBe('SCHEDULE_INVALID')
    await expectSound(store)
  })
})

describe.each(engines)('memory upkeep on $name', ({ open, openInTime }) => {
  test('maintenance purges expired items, then the least important, then the oldest, and a dry run only counts', async () => {
    const { store, pass } = await openInTime({ memory: { scope: { entries: 2 }, tenant: { entries: 3 } } })
    await store.memory.remember('expires', { about: 'user/ada', ttl: '1h' })
    await store.memory.remember('important', { about: 'user/ada', importance: 1 })
    await store.memory.remember('unimportant', { about: 'user/ada', importance: 0 })
    await store.memory.remember('ordinary', { about: 'user/ada' })
    await store.memory.remember('elsewhere 1')
    await store.memory.remember('elsewhere 2')
    await pass(2 * 3_600_000)
    expect(await store.memory.maintain({ dryRun: true })).toEqual({ expired: 1, aged: 0, evicted: 2, finished: 0, retired: 0 })
    expect(await texts(store)).toHaveLength(5)
    expect(await store.maintain()).toMatchObject({ memoryExpired: 1, memoryEvicted: 2 })
    expect((await texts(store)).sort()).toEqual(['elsewhere 1', 'elsewhere 2', 'important'])
    expect(await store.maintain()).toMatchObject({ memoryExpired: 0, memoryEvicted: 0 })
    await expectSound(store)
  })

  test('forgotten items leave before those that are there', async () => {
    const store = await open({ memory: { tenant: { entries: 2 } } })
    for (const text of ['one', 'two']) await store.memory.remember(text)
    const { id } = await store.memory.remember('three', { importance: 1 })
    await store.memory.forget(id)
    expect(await store.maintain()).toMatchObject({ memoryEvicted: 1 })
    expect((await texts(store)).sort()).toEqual(['one', 'two'])
    await expectSound(store)
  })

  test('bytes and days are limits too, and bad limits are refused at open', async () => {
    const { store, pass } = await openInTime({ memory: { tenant: { bytes: 10 }, retentionDays: 2 } })
    await store.memory.remember('12345')
    await store.memory.remember('1234567')
    expect(await store.maintain()).toMatchObject({ memoryEvicted: 1 })
    expect(await texts(store)).toEqual(['1234567'])
    await pass(3 * 86_400_000)
    const { expired, evicted } = await store.memory.maintain()
    expect([expired, evicted]).toEqual([0, 0])
    expect(await codeOf(open({ memory: { scope: { entries: -1 } } }))).toBe('OPTION_INVALID')
    expect(await codeOf(open({ memory: { retentionDays: 0 } }))).toBe('OPTION_INVALID')
    await expectSound(store)
  })

  test('a recall in a run is recorded: replay sees the items that it saw', async () => {
    const store = await open()
    await store.memory.remember('the car is red')
    const session = await store.session('s')
    const run = await session.run('r')
    const first = await run.recall('car')
    expect(first.map(({ item }) => item.text)).toEqual(['the car is red'])
    expect(first.legs).toEqual(['words'])
    await store.memory.remember('the other car is blue')
    await run.close()
    const again = await session.run('r')
    const replayed = await again.recall('car')
    expect([...replayed]).toEqual([...first])
    expect(replayed.legs).toEqual(['words'])
    // What was not recorded sees both.
    expect(await again.recall('car')).toHaveLength(2)
    await expectSound(store)
  })

  test('subscribers hear of changes in their scope', async () => {
    const store = await open()
    const notices = store.memory.subscribe({ about: 'user/ada' })
    const first = notices.next()
    let heard = false
    const told = first.finally(() => {
      heard = true
    })
    // The subscription begins at the head that it reads, so a change is made until it is heard.
    for (let i = 0; !heard; i++) {
      await store.memory.remember(`elsewhere ${i}`)
      await store.memory.remember('here', { about: 'user/ada' })
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect((await told).value).toMatchObject({ change: 'remembered', about: 'user/ada' })
    await store.memory.forget({ about: 'user/ada' })
    for (;;) {
      const { value } = await notices.next()
      expect(value?.about).toBe('user/ada')
      if (value?.change === 'forgotten') break
    }
    await notices.return()
  })
})

/** Two stores over the same rows. */
async function twoStores(parts: (backend: Backend) => readonly [Partial<Backend>, Partial<Backend>], options = {}) {
  const backend = handleTo(freshMemory(Date.now))
  const stores = parts(backend).map((part) => openStore({ backend: { ...backend, ...part }, ...options }))
  const [first, second] = (await Promise.all(stores)) as [Store, Store]
  later(async () => {
    await first.close()
    await second.close()
  })
  return [first, second] as const
}

const has = (batch: readonly Commit[], type: string): boolean => batch.some(({ events }) => events.some((event) => event.type === type))

test('an item that is remembered again while maintenance is about to purge it stays', async () => {
  let again: (() => Promise<unknown>) | undefined
  const [store, other] = await twoStores(
    (backend) => [
      {
        commit: async (batch) => {
          const act = has(batch, 'memory.purging') ? again : undefined
          again = undefined
          await act?.()
          return backend.commit(batch)
        },
      },
      {},
    ],
    { memory: { scope: { entries: 0 } } },
  )
  const { id } = await store.memory.remember('said again')
  again = () => other.memory.remember('said again')
  expect(await store.memory.maintain()).toMatchObject({ evicted: 0 })
  expect(await store.memory.get(id)).toMatchObject({ times: 2 })
  await expectSound(store)
})

test('a tenant whose memory cannot be maintained holds up no other tenant', async () => {
  const [store] = await twoStores(
    ({ rows }) => {
      const list: typeof rows.list = async (tenant, table, query) => {
        if (tenant === 'broken' && table === 'memory') throw new Error('damaged')
        return rows.list(tenant, table, query)
      }
      return [{ rows: { ...rows, list } }, { rows: { ...rows, list } }]
    },
    { memory: { every: '1s' } },
  )
  await store.tenant('broken').memory.remember('expires', { ttl: 1 })
  const { id } = await store.tenant('later').memory.remember('expires', { ttl: 1 })
  const purged = async () => (await store.tenant('later').page({ types: ['memory.purged'] })).items.map(({ subject }) => subject)
  await expect.poll(purged).toEqual([id])
})

test('a purge that was cut off is counted by a dry run, and finished by maintenance', async () => {
  const [store, other] = await twoStores((backend) => [
    {
      commit: async (batch) => {
        if (has(batch, 'memory.purged')) throw new Error('died')
        return backend.commit(batch)
      },
    },
    {},
  ])
  const { id } = await store.memory.remember('a secret')
  expect(await codeOf(store.memory.purge(id))).not.toBe('no error')
  expect([await other.memory.maintain({ dryRun: true }), await other.memory.maintain({ dryRun: true })]).toMatchObject([
    { finished: 1 },
    { finished: 1 },
  ])
  expect(await other.memory.maintain()).toMatchObject({ finished: 1 })
  expect(await other.memory.maintain({ dryRun: true })).toMatchObject({ finished: 0 })
  await expectSound(other)
})

test('a text that is remembered while it is being purged is a new item, and stays', async () => {
  let purge: (() => void) | undefined
  let [marked, remembered] = [() => {}, () => {}]
  const isMarked = new Promise<void>((resolve) => {
    marked = resolve
  })
  const isRemembered = new Promise<void>((resolve) => {
    remembered = resolve
  })
  const [store, other] = await twoStores((backend) => [
    {
      commit: async (batch) => {
        if (has(batch, 'memory.purged')) {
          marked()
          await isRemembered
        }
        return backend.commit(batch)
      },
    },
    {
      rows: rowsBy(backend.rows, async (tenant, table, id) => {
        const found = await backend.rows.get(tenant, table, id)
        // The name is found; then the item is marked, and only then the other store goes on.
        if (table === 'names' && purge) {
          purge()
          purge = undefined
          await isMarked
        }
        return found
      }),
    },
  ])
  const { id } = await store.memory.remember('said again')
  let purged: Promise<unknown> | undefined
  purge = () => {
    purged = store.memory.purge(id)
  }
  const made = await other.memory.remember('said again')
  remembered()
  expect(await purged).toEqual({ purged: 1 })
  expect(made.id).not.toBe(id)
  expect((await store.memory.list()).items.map((item) => item.id)).toEqual([made.id])
  await expectSound(store)
})

const SECRET = 'zebulonquartz'

test('after a purge, no file of a SQLite store contains the text or its words', async () => {
  const path = tempFile()
  const store = await openStore(path)
  later(() => store.close())
  const { id } = await store.memory.remember(`The ${SECRET} lies under the floor`, { tags: [SECRET], metadata: { hint: SECRET } })
  await store.memory.update(id, { source: { file: SECRET } })
  await store.memory.remember('something that stays')
  const files = () =>
    readdirSync(dirname(path), { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => readFileSync(join(one.parentPath, one.name)).toString('latin1').toLowerCase())
  // The negative control: before the purge, the text is there.
  expect(files().some((bytes) => bytes.includes(SECRET))).toBe(true)
  await store.memory.purge(id)
  expect(files().some((bytes) => bytes.includes(SECRET))).toBe(false)
  expect(files().some((bytes) => bytes.includes('something that stays'))).toBe(true)
})

test('after a purge, no row of any table on PostgreSQL contains the text or its words', async () => {
  const url = await tempDatabase()
  const store = await openStore(url)
  later(() => store.close())
  const client = new Client({ connectionString: url })
  await client.connect()
  later(() => client.end())
  const holding = async (): Promise<readonly string[]> => {
    const { rows } = await client.query(
      "select relname from pg_class c join pg_namespace n on n.oid = c.relnamespace where nspname = 'inkfast' and relkind = 'r'",
    )
    const found: string[] = []
    for (const { relname } of rows) {
      const { rows: hits } = await client.query(
        `select 1 from inkfast.${relname} t where position($1 in lower(t::text)) > 0 or position($2 in t::text) > 0 limit 1`,
        [SECRET, Buffer.from(SECRET).toString('hex')],
      )
      if (hits.length > 0) found.push(relname)
    }
    return found
  }
  const { id } = await store.memory.remember(`The ${SECRET} lies under the floor`, { tags: [SECRET], metadata: { hint: SECRET } })
  expect(await holding()).toEqual(expect.arrayContaining(['events', 'memory', 'terms']))
  await store.memory.purge(id)
  expect(await holding()).toEqual([])
})
