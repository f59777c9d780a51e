// Workers: the names that working processes handle, and the queues that have waited for them.

import { ok, deepEqual as same } from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import type { TenantId } from '../../model/ids.ts'
import type { Body } from '../../model/rows.ts'
import type { WorkerData } from '../../model/worker.ts'
import type { Backend } from '../../ports/backend.ts'
import { group } from '../case.ts'
import { MAIN, type Maker, OTHER, put } from '../material.ts'
import { changesNothing, save } from './expect.ts'

const some = group('workers')

const live = 'a worker is live from its renewal on for as long as it asked'
const every = 'a worker that serves every tenant is seen from each'
const walled = 'a worker of one tenant is seen from that tenant only'
const dropped = 'a worker that ended is dropped when it was long ago'
const open = 'workers answer in any state of their tenant'
const overdue = 'a queue is overdue while an item in it was due some time ago'

const HOUR = 3_600_000

const worker = (id: string, ...queues: readonly string[]): WorkerData => ({ id, version: '1.2.3', queues })
const listed = async (backend: Backend, tenant: TenantId): Promise<readonly string[]> =>
  (await backend.workers.list(tenant)).workers.map(({ id }) => id)

const begin = async (backend: Backend, make: Maker): Promise<void> => {
  for (const tenant of [MAIN, OTHER]) await save(backend, make.commit(tenant))
}

const DAY = 24 * HOUR
const offer = (backend: Backend, make: Maker, tenant: TenantId, items: Readonly<Record<string, Body>>): Promise<unknown> =>
  save(backend, make.commit(tenant, { changes: Object.entries(items).map(([id, body]) => put('work', id, body)) }))

export const workers = [
  some(live, 'a renewal is listed as it was given, with its times, and the journal is as it was', async ({ backend, make }) => {
    await begin(backend, make)
    await changesNothing(backend, [MAIN, OTHER], async () => {
      await backend.workers.renew(MAIN, [worker('b', 'runs/a', `q'"\\ß`), worker('a')], 20_000, HOUR)
    })
    const { now, workers: found } = await backend.workers.list(MAIN)
    same(
      found.map(({ at: _, until: __, ...rest }) => rest),
      [worker('a'), worker('b', 'runs/a', `q'"\\ß`)],
    )
    for (const { at, until } of found) {
      ok(at <= now && now - at < HOUR, 'the time of the store')
      same(until - at, 20_000)
    }
  }),

  some(live, 'a later renewal moves the end, and a renewal of no time ends it', async ({ backend, make }) => {
    await begin(backend, make)
    await backend.workers.renew(MAIN, [worker('a', 'q'), worker('b', 'q')], 20_000, HOUR)
    await backend.workers.renew(MAIN, [worker('a', 'q')], 60_000, HOUR)
    await backend.workers.renew(MAIN, [worker('b', 'q')], 0, HOUR)
    await backend.workers.renew(MAIN, [], 60_000, HOUR)
    const { now, workers: found } = await backend.workers.list(MAIN)
    same(
      found.map(({ id, at, until }) => [id, until - at, until > now]),
      [
        ['a', 60_000, true],
        ['b', 0, false],
      ],
    )
  }),

  some(every, 'every tenant sees it beside its own, and can neither move nor drop it', async ({ backend, make }) => {
    await begin(backend, make)
    await backend.workers.renew(undefined, [worker('b', 'q')], 20_000, HOUR)
    await backend.workers.renew(MAIN, [worker('a', 'q'), worker('c', 'q')], 20_000, HOUR)
    same(await listed(backend, MAIN), ['a', 'b', 'c'])
    same(await listed(backend, OTHER), ['b'])
    await backend.workers.renew(OTHER, [worker('b', 'mine')], 0, HOUR)
    const [own, shared] = (await backend.workers.list(OTHER)).workers.toSorted((x, y) => x.until - y.until)
    same([own?.queues, shared?.queues], [['mine'], ['q']])
    same(await backend.journal.tenants(), [OTHER, MAIN], 'it makes no tenant')
  }),

  some(walled, 'another tenant with the same id has its own', async ({ backend, make }) => {
    await begin(backend, make)
    await backend.workers.renew(MAIN, [worker('a', 'secret')], 20_000, HOUR)
    same(await listed(backend, OTHER), [])
    await backend.workers.renew(OTHER, [worker('a', 'other')], 20_000, HOUR)
    same((await backend.workers.list(MAIN)).workers[0]?.queues, ['secret'])
    same((await backend.workers.list(OTHER)).workers[0]?.queues, ['other'])
  }),

  some(dropped, 'a renewal drops what ended before the time that it keeps, of the same tenant only', async ({ backend, make }) => {
    await begin(backend, make)
    for (const tenant of [MAIN, OTHER, undefined]) await backend.workers.renew(tenant, [worker(`ended ${tenant ?? 'every'}`, 'q')], 0, HOUR)
    // The clock of a store counts milliseconds.
    await wait(5)
    await backend.workers.renew(MAIN, [worker('new', 'q')], 20_000, HOUR)
    same(await listed(backend, MAIN), ['ended every', `ended ${MAIN}`, 'new'])
    await backend.workers.renew(MAIN, [worker('new', 'q')], 20_000, 0)
    same(await listed(backend, MAIN), ['ended every', 'new'])
    same(await listed(backend, OTHER), [`ended ${OTHER}`, 'ended every'].sort())
    await backend.workers.renew(undefined, [], 0, 0)
    same(await listed(backend, OTHER), [`ended ${OTHER}`])
  }),

  some(open, 'a tenant that was closed still has its workers renewed and listed', async ({ backend, make }) => {
    await begin(backend, make)
    for (const state of ['suspended', 'deleted'] as const) {
      await save(backend, make.commit(MAIN, { changes: [{ kind: 'state', state }] }))
      await backend.workers.renew(MAIN, [worker(state, 'q')], 20_000, HOUR)
      ok((await listed(backend, MAIN)).includes(state), state)
    }
  }),

  some(open, 'a tenant without events has workers too', async ({ backend }) => {
    await backend.workers.renew(MAIN, [worker('a', 'q')], 20_000, HOUR)
    same(await listed(backend, MAIN), ['a'])
    same(await backend.journal.tenants(), [])
  }),

  some(overdue, 'each queue is told once, with its earliest time, in the order of their names', async ({ backend, make }) => {
    same(await backend.queries.overdue(MAIN, 0, 10), [])
    const { now } = await backend.workers.list(MAIN)
    await offer(backend, make, MAIN, {
      a: { queue: 'late', state: 'ready', at: now - HOUR },
      b: { queue: 'late', state: 'ready', at: now - DAY },
      c: { queue: 'claimed', state: 'claimed', at: now - HOUR },
      d: { queue: 'new', state: 'ready', at: now - 1 },
      e: { queue: 'later', state: 'ready', at: now + DAY },
      f: { queue: 'timeless', state: 'dead' },
      g: { queue: 'late', state: 'dead', at: null },
      h: { queue: 'mixed', state: 'ready', at: now + DAY },
      i: { queue: 'mixed', state: 'ready', at: 0 },
      j: { state: 'ready', at: 0 },
    })
    await offer(backend, make, OTHER, { a: { queue: 'other', state: 'ready', at: 0 } })
    const told = [
      { queue: 'claimed', at: now - HOUR },
      { queue: 'late', at: now - DAY },
      { queue: 'mixed', at: 0 },
    ]
    same(await backend.queries.overdue(MAIN, HOUR / 2, 10), told)
    same(await backend.queries.overdue(MAIN, HOUR / 2, 2), told.slice(0, 2))
    same(await backend.queries.overdue(MAIN, 2 * HOUR, 10), told.slice(1))
    same(await backend.queries.overdue(OTHER, HOUR, 10), [{ queue: 'other', at: 0 }])
  }),
]
