// Renewing a lease: in store time, only by the newest fence, and without an event.

import { ok, rejects, deepEqual as same } from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import type { TenantId } from '../../model/ids.ts'
import type { Backend } from '../../ports/backend.ts'
import type { HeldTable, LeaseTime } from '../../ports/leases.ts'
import { group } from '../case.ts'
import { MAIN, type Maker, OTHER, put } from '../material.ts'
import { changesNothing, save } from './expect.ts'

const a = group('leases')

const timed = 'a lease is held on to in store time'
const newest = 'only the newest fence holds on'
const walled = 'a lease is held on to in its own tenant'
const factless = 'holding on to a lease is no fact'
const told = 'leases and claims of work items are held on to alike, each where it is asked for'
const swept = 'a sweep forgets what ran out before it, and nothing else that is held'

const TTL = 30_000

/** Takes the lease, or claims the item, and returns its fence. */
async function take(backend: Backend, make: Maker, id: string, tenant: TenantId = MAIN, of: HeldTable = 'leases'): Promise<number> {
  const [receipt] = await save(backend, make.commit(tenant, { changes: [put(of, id, { owner: 'o' }, { grants: true })] }))
  return receipt?.seq ?? 0
}

const readOne = async (backend: Backend, id: string, tenant: TenantId = MAIN): Promise<LeaseTime | undefined> =>
  (await backend.leases.read(tenant, [id])).leases[0]

export const leases = [
  a(timed, 'renewing answers until when, counted from the store’s own now', async ({ backend, make }) => {
    const fence = await take(backend, make, 'l')
    const { now, leases } = await backend.leases.renew(MAIN, [{ id: 'l', fence }], TTL)
    const [lease] = leases
    same([lease?.id, lease?.fence], ['l', fence])
    // The `now` of the answer may be read a moment after that of the renewal.
    ok(lease !== undefined && lease.until <= now + TTL && lease.until > now + TTL - 5000, `until ${lease?.until} at ${now}`)
    same(await readOne(backend, 'l'), lease)
  }),

  a(timed, 'time goes on for whoever reads, and the lease stays until when it was', async ({ backend, make }) => {
    const fence = await take(backend, make, 'l')
    const renewed = await backend.leases.renew(MAIN, [{ id: 'l', fence }], 1)
    await wait(20)
    const later = await backend.leases.read(MAIN, ['l'])
    same(later.leases, renewed.leases)
    ok(later.now >= renewed.now + 10, 'the store’s now has moved')
    ok(later.now > (later.leases[0]?.until ?? Infinity), 'it has run out')
    const again = await backend.leases.renew(MAIN, [{ id: 'l', fence }], TTL)
    ok((again.leases[0]?.until ?? 0) > later.now, 'whoever is still the newest may hold on again')
  }),

  a(timed, 'a commit’s now and a lease’s now are one clock', async ({ backend, make }) => {
    const before = (await backend.leases.read(MAIN, [])).now
    const [outcome] = await backend.commit([make.commit(MAIN)])
    const after = (await backend.leases.read(MAIN, [])).now
    ok(outcome && before <= outcome.now && outcome.now <= after, `${before} <= ${outcome?.now} <= ${after}`)
  }),

  a(timed, 'several are renewed and read in one call, in the order asked', async ({ backend, make }) => {
    const fences = [await take(backend, make, 'a'), await take(backend, make, 'b'), await take(backend, make, 'c')]
    const asked = ['c', 'a', 'nobody’s', 'b']
    const held = asked.map((id) => ({ id, fence: { a: fences[0], b: fences[1], c: fences[2] }[id] ?? 7 }))
    const { leases } = await backend.leases.renew(MAIN, held, TTL)
    same(
      leases.map(({ id, fence, until }) => [id, fence, until > 0]),
      [
        ['c', fences[2], true],
        ['a', fences[0], true],
        ['nobody’s', 0, false],
        ['b', fences[1], true],
      ],
    )
    same((await backend.leases.read(MAIN, asked)).leases, leases)
    same((await backend.leases.read(MAIN, [])).leases, [])
  }),

  a(newest, 'a lease that was never renewed is held until nothing', async ({ backend, make }) => {
    const fence = await take(backend, make, 'l')
    same(await readOne(backend, 'l'), { id: 'l', fence, until: 0 })
    same(await readOne(backend, 'unknown'), { id: 'unknown', fence: 0, until: 0 })
    await save(backend, make.commit(MAIN, { changes: [put('leases', 'never granted')] }))
    same((await backend.leases.renew(MAIN, [{ id: 'never granted', fence: 0 }], TTL)).leases, [{ id: 'never granted', fence: 0, until: 0 }])
  }),

  a(newest, 'a superseded holder holds on to nothing, and is told the newer fence', async ({ backend, make }) => {
    const old = await take(backend, make, 'l')
    await backend.leases.renew(MAIN, [{ id: 'l', fence: old }], TTL)
    const next = await take(backend, make, 'l')
    same(await readOne(backend, 'l'), { id: 'l', fence: next, until: 0 }, 'the time of the one before is not the next one’s')
    same((await backend.leases.renew(MAIN, [{ id: 'l', fence: old }], TTL)).leases, [{ id: 'l', fence: next, until: 0 }])
    const { leases } = await backend.leases.renew(MAIN, [{ id: 'l', fence: next }], TTL)
    await backend.leases.renew(MAIN, [{ id: 'l', fence: old }], 60 * TTL)
    same(await readOne(backend, 'l'), leases[0])
  }),

  a(walled, 'the same lease in two tenants is two', async ({ backend, make }) => {
    const fence = await take(backend, make, 'l')
    same(await take(backend, make, 'l', OTHER), fence)
    await backend.leases.renew(MAIN, [{ id: 'l', fence }], TTL)
    same(await readOne(backend, 'l', OTHER), { id: 'l', fence, until: 0 })
  }),

  a(walled, 'a tenant that is not active holds on to nothing and shows nothing', async ({ backend, make }) => {
    const fence = await take(backend, make, 'l')
    await backend.leases.renew(MAIN, [{ id: 'l', fence }], TTL)
    const before = await readOne(backend, 'l')
    await save(backend, make.commit(MAIN, { changes: [{ kind: 'state', state: 'suspended' }] }))
    await rejects(backend.leases.renew(MAIN, [{ id: 'l', fence }], 60 * TTL), { code: 'TENANT_CLOSED' })
    await rejects(backend.leases.read(MAIN, ['l']), { code: 'TENANT_CLOSED' })
    await save(backend, make.commit(MAIN, { changes: [{ kind: 'state', state: 'active' }] }))
    same(await readOne(backend, 'l'), before)
  }),

  a(told, 'a claim is held on to as a lease is: in store time, and by the newest fence alone', async ({ backend, make }) => {
    const old = await take(backend, make, 'w', MAIN, 'work')
    same((await backend.leases.read(MAIN, ['w'], 'work')).leases, [{ id: 'w', fence: old, until: 0 }])
    await backend.leases.renew(MAIN, [{ id: 'w', fence: old }], TTL, 'work')
    const next = await take(backend, make, 'w', MAIN, 'work')
    const lost = { id: 'w', fence: next, until: 0 }
    same((await backend.leases.renew(MAIN, [{ id: 'w', fence: old }], TTL, 'work')).leases, [lost], 'superseded')
    const { now, leases } = await backend.leases.renew(MAIN, [{ id: 'w', fence: next }], TTL, 'work')
    ok(leases[0] && leases[0].until <= now + TTL && leases[0].until > now + TTL - 5000, `until ${leases[0]?.until} at ${now}`)
    same((await backend.leases.read(MAIN, ['w', 'unknown'], 'work')).leases, [leases[0], { id: 'unknown', fence: 0, until: 0 }])
    await save(backend, make.commit(MAIN, { changes: [{ kind: 'remove', table: 'work', id: 'w' }] }))
    const gone = [{ id: 'w', fence: 0, until: 0 }]
    same((await backend.leases.renew(MAIN, [{ id: 'w', fence: next }], TTL, 'work')).leases, gone, 'an item that is done')
    same((await backend.leases.read(MAIN, ['w'], 'work')).leases, gone)
  }),

  a(told, 'a claim is not found among the leases, nor a lease among the claims', async ({ backend, make }) => {
    const [l, w] = [await take(backend, make, 'l'), await take(backend, make, 'w', MAIN, 'work')]
    const held = [
      { id: 'l', fence: l },
      { id: 'w', fence: w },
    ]
    const found = async (of?: HeldTable) => (await backend.leases.read(MAIN, ['l', 'w'], of)).leases.map(({ until }) => until > 0)
    const { leases } = await backend.leases.renew(MAIN, held, TTL)
    same(
      leases.map(({ fence, until }) => [fence, until > 0]),
      [
        [l, true],
        [0, false],
      ],
    )
    same(
      [await found(), await found('leases'), await found('work')],
      [
        [true, false],
        [true, false],
        [false, false],
      ],
    )
    await backend.leases.renew(MAIN, held, TTL, 'work')
    same(
      [await found(), await found('work')],
      [
        [true, false],
        [false, true],
      ],
    )
  }),

  a(swept, 'what ran out before is forgotten, of leases and of claims, and what is held stays', async ({ backend, make }) => {
    const held = async (tenant: TenantId, of: HeldTable) => ({
      short: [{ id: `${of} short`, fence: await take(backend, make, `${of} short`, tenant, of) }],
      long: [{ id: `${of} long`, fence: await take(backend, make, `${of} long`, tenant, of) }],
    })
    const all = [
      { tenant: MAIN, of: 'leases', ...(await held(MAIN, 'leases')) },
      { tenant: MAIN, of: 'work', ...(await held(MAIN, 'work')) },
      { tenant: OTHER, of: 'work', ...(await held(OTHER, 'work')) },
    ] as const
    const untils: number[] = []
    for (const { tenant, of, short, long } of all) {
      await backend.leases.renew(tenant, long, TTL, of)
      untils.push((await backend.leases.renew(tenant, short, 1, of)).leases[0]?.until ?? 0)
    }
    const read = () =>
      Promise.all(all.map(async ({ tenant, of }) => (await backend.leases.read(tenant, [`${of} short`, `${of} long`], of)).leases))
    const before = await read()
    await backend.upkeep.sweepReceipts(Math.min(...untils))
    same(await read(), before, 'nothing ran out before that')
    const forgotten = before.map(([short, long]) => [{ ...short, until: 0 }, long])
    await changesNothing(backend, [MAIN, OTHER], async () =>
      same(await backend.upkeep.sweepReceipts(Math.max(...untils) + 1), 0, 'no receipt was there'),
    )
    same(await read(), forgotten)
    for (const { tenant, of, short } of all) await backend.leases.renew(tenant, short, TTL, of)
    ok(
      (await read()).flat().every(({ until }) => until > 0),
      'whoever is still the newest may hold on again',
    )
  }),

  a(factless, 'renewing changes no event, no row and no head', async ({ backend, make }) => {
    const fence = await take(backend, make, 'l')
    await changesNothing(backend, [MAIN], () => backend.leases.renew(MAIN, [{ id: 'l', fence }], TTL))
    await save(backend, make.commit(MAIN, { guards: [{ kind: 'row', table: 'leases', id: 'l', revision: fence }] }))
  }),

  a(
    timed,
    'what one handle renewed another reads',
    async ({ backend, make, second }) => {
      const other = await second()
      const fence = await take(backend, make, 'l')
      const { leases } = await backend.leases.renew(MAIN, [{ id: 'l', fence }], TTL)
      same(await readOne(other, 'l'), leases[0])
    },
    'second',
  ),
]
