// Damage to holding on to leases.

import { maker } from '../../../src/conformance/material.ts'
import type { TenantId } from '../../../src/model/ids.ts'
import type { Backend } from '../../../src/ports/backend.ts'
import type { Leases, LeaseTimes } from '../../../src/ports/leases.ts'
import { type Sabotage, spoiled } from './spoil.ts'

const timed = 'a lease is held on to in store time'
const newest = 'only the newest fence holds on'
const walled = 'a lease is held on to in its own tenant'
const factless = 'holding on to a lease is no fact'
const told = 'leases and claims of work items are held on to alike, each where it is asked for'
const swept = 'a sweep forgets what ran out before it, and nothing else that is held'

const leasing = (alter: (leases: Leases, backend: Backend) => Partial<Leases>) => (backend: Backend) => ({
  ...backend,
  leases: { ...backend.leases, ...alter(backend.leases, backend) },
})

const AN_HOUR = 3_600_000

export const leaseSabotages: readonly Sabotage[] = [
  spoiled(
    'renews nothing',
    [timed],
    leasing((leases) => ({
      renew: (tenant, held, _, of) =>
        leases.read(
          tenant,
          held.map(({ id }) => id),
          of,
        ),
    })),
  ),
  spoiled(
    'counts from a clock of its own',
    [timed],
    leasing((leases) => ({
      read: async (tenant, ids, of) => {
        const times = await leases.read(tenant, ids, of)
        return { ...times, now: times.now - AN_HOUR }
      },
    })),
  ),
  spoiled(
    'answers in an order of its own',
    [timed],
    leasing((leases) => ({
      read: async (tenant, ids, of) => {
        const times = await leases.read(tenant, ids, of)
        return { ...times, leases: times.leases.toReversed() }
      },
    })),
  ),
  spoiled(
    'renews for whoever asks',
    [newest],
    leasing((leases) => ({
      renew: async (tenant, held, ms, of) => {
        const { leases: found } = await leases.read(
          tenant,
          held.map(({ id }) => id),
          of,
        )
        return leases.renew(tenant, found, ms, of)
      },
    })),
  ),
  spoiled('hands the time of one holder to the next', [newest], (backend) => {
    const last = new Map<string, number>()
    return leasing((leases) => ({
      renew: async (tenant, held, ms, of) => {
        const times = await leases.renew(tenant, held, ms, of)
        for (const { id, until } of times.leases) if (until > 0) last.set(`${tenant} ${id}`, until)
        return times
      },
      read: async (tenant, ids, of) => {
        const times = await leases.read(tenant, ids, of)
        const kept = times.leases.map((lease) => ({ ...lease, until: lease.until || (last.get(`${tenant} ${lease.id}`) ?? 0) }))
        return { ...times, leases: kept }
      },
    }))(backend)
  }),
  spoiled('hears a lease in every tenant', [walled], (backend) => {
    const last = new Map<string, { readonly fence: number; readonly until: number }>()
    return leasing((leases) => ({
      renew: async (tenant, held, ms, of) => {
        const times = await leases.renew(tenant, held, ms, of)
        for (const { id, fence, until } of times.leases) last.set(id, { fence, until })
        return times
      },
      read: async (tenant, ids, of) => {
        const times = await leases.read(tenant, ids, of)
        return {
          ...times,
          leases: times.leases.map((lease) => ({ ...lease, ...(lease.fence === last.get(lease.id)?.fence && last.get(lease.id)) })),
        }
      },
    }))(backend)
  }),
  spoiled(
    'writes an event with every renewal',
    [factless],
    leasing((leases, backend) => ({
      renew: async (tenant, held, ms, of) => {
        const times = await leases.renew(tenant, held, ms, of)
        await backend.commit([maker().commit(tenant)])
        return times
      },
    })),
  ),
  spoiled(
    'takes every lease for held',
    [newest],
    leasing((leases) => ({
      read: async (tenant, ids, of) => {
        const times = await leases.read(tenant, ids, of)
        return { ...times, leases: times.leases.map((lease) => ({ ...lease, until: lease.until || times.now + AN_HOUR })) }
      },
    })),
  ),
  spoiled(
    'shows the leases of a closed tenant',
    [walled],
    leasing((leases) => ({
      read: (tenant, ids, of) => leases.read(tenant, ids, of).catch(() => ({ now: 0, leases: [] })),
    })),
  ),
  spoiled('keeps renewals to the handle', [timed], (backend) => {
    const own = new Set<string>()
    return leasing((leases) => ({
      renew: (tenant, held, ms, of) => {
        for (const { id } of held) own.add(`${tenant} ${id}`)
        return leases.renew(tenant, held, ms, of)
      },
      read: async (tenant, ids, of) => {
        const times = await leases.read(tenant, ids, of)
        return { ...times, leases: times.leases.map((lease) => (own.has(`${tenant} ${lease.id}`) ? lease : { ...lease, until: 0 })) }
      },
    }))(backend)
  }),
  spoiled(
    'looks for claims among the leases',
    [told],
    leasing((leases) => ({
      renew: (tenant, held, ms) => leases.renew(tenant, held, ms),
      read: (tenant, ids) => leases.read(tenant, ids),
    })),
  ),
  spoiled(
    'holds on to a lease and to a claim wherever one is',
    [told],
    leasing((leases) => ({
      renew: async (tenant, held, ms, of) => {
        for (const each of ['leases', 'work'] as const) await leases.renew(tenant, held, ms, each)
        return leases.renew(tenant, held, ms, of)
      },
    })),
  ),
  spoiled('sweeps receipts alone', [swept], (backend) => {
    const last = new Map<string, { readonly fence: number; readonly until: number }>()
    const kept = (tenant: TenantId, { leases, now }: LeaseTimes): LeaseTimes => ({
      now,
      leases: leases.map((lease) => {
        const known = last.get(`${tenant} ${lease.id}`)
        return known?.fence === lease.fence && lease.until === 0 ? { ...lease, ...known } : lease
      }),
    })
    return leasing((leases) => ({
      renew: async (tenant, held, ms, of) => {
        const times = await leases.renew(tenant, held, ms, of)
        for (const { id, fence, until } of times.leases) if (until > 0) last.set(`${tenant} ${id}`, { fence, until })
        return times
      },
      read: async (tenant, ids, of) => kept(tenant, await leases.read(tenant, ids, of)),
    }))(backend)
  }),
]
