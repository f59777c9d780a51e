// Damage to holding on to leases.

import type { Backend } from '../../ports/backend.ts'
import type { Leases } from '../../ports/leases.ts'
import { maker } from '../material.ts'
import { type Sabotage, spoiled } from './spoil.ts'

const timed = 'a lease is held on to in store time'
const newest = 'only the newest fence holds on'
const walled = 'a lease is held on to in its own tenant'
const factless = 'holding on to a lease is no fact'

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
      renew: (tenant, held) =>
        leases.read(
          tenant,
          held.map(({ id }) => id),
        ),
    })),
  ),
  spoiled(
    'counts from a clock of its own',
    [timed],
    leasing((leases) => ({
      read: async (tenant, ids) => {
        const times = await leases.read(tenant, ids)
        return { ...times, now: times.now - AN_HOUR }
      },
    })),
  ),
  spoiled(
    'answers in an order of its own',
    [timed],
    leasing((leases) => ({
      read: async (tenant, ids) => {
        const times = await leases.read(tenant, ids)
        return { ...times, leases: times.leases.toReversed() }
      },
    })),
  ),
  spoiled(
    'renews for whoever asks',
    [newest],
    leasing((leases) => ({
      renew: async (tenant, held, ms) => {
        const { leases: found } = await leases.read(
          tenant,
          held.map(({ id }) => id),
        )
        return leases.renew(tenant, found, ms)
      },
    })),
  ),
  spoiled('hands the time of one holder to the next', [newest], (backend) => {
    const last = new Map<string, number>()
    return leasing((leases) => ({
      renew: async (tenant, held, ms) => {
        const times = await leases.renew(tenant, held, ms)
        for (const { id, until } of times.leases) if (until > 0) last.set(`${tenant} ${id}`, until)
        return times
      },
      read: async (tenant, ids) => {
        const times = await leases.read(tenant, ids)
        const kept = times.leases.map((lease) => ({ ...lease, until: lease.until || (last.get(`${tenant} ${lease.id}`) ?? 0) }))
        return { ...times, leases: kept }
      },
    }))(backend)
  }),
  spoiled('hears a lease in every tenant', [walled], (backend) => {
    const last = new Map<string, { readonly fence: number; readonly until: number }>()
    return leasing((leases) => ({
      renew: async (tenant, held, ms) => {
        const times = await leases.renew(tenant, held, ms)
        for (const { id, fence, until } of times.leases) last.set(id, { fence, until })
        return times
      },
      read: async (tenant, ids) => {
        const times = await leases.read(tenant, ids)
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
      renew: async (tenant, held, ms) => {
        const times = await leases.renew(tenant, held, ms)
        await backend.commit([maker().commit(tenant)])
        return times
      },
    })),
  ),
  spoiled(
    'takes every lease for held',
    [newest],
    leasing((leases) => ({
      read: async (tenant, ids) => {
        const times = await leases.read(tenant, ids)
        return { ...times, leases: times.leases.map((lease) => ({ ...lease, until: lease.until || times.now + AN_HOUR })) }
      },
    })),
  ),
  spoiled(
    'shows the leases of a closed tenant',
    [walled],
    leasing((leases) => ({
      read: (tenant, ids) => leases.read(tenant, ids).catch(() => ({ now: 0, leases: [] })),
    })),
  ),
  spoiled('keeps renewals to the handle', [timed], (backend) => {
    const own = new Set<string>()
    return leasing((leases) => ({
      renew: (tenant, held, ms) => {
        for (const { id } of held) own.add(`${tenant} ${id}`)
        return leases.renew(tenant, held, ms)
      },
      read: async (tenant, ids) => {
        const times = await leases.read(tenant, ids)
        return { ...times, leases: times.leases.map((lease) => (own.has(`${tenant} ${lease.id}`) ? lease : { ...lease, until: 0 })) }
      },
    }))(backend)
  }),
]
