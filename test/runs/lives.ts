// A process that dies in the middle of its work: a store whose backend, from one commit on, neither hears nor answers. What was saved before
// stays; whoever comes next is a store of its own.

import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { sqliteBackend } from '../../src/backends/sqlite/backend.ts'
import { open, type Store, type StoreOptions } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import type { Commit } from '../../src/ports/commit.ts'
import { later, moveTime, tempDatabase, tempFile } from '../support/engines.ts'

export interface Death {
  /** The commit it dies at, counted from 1. */
  readonly at: number
  /** Before the commit arrives, or once it was saved and before the answer comes. */
  readonly when: 'before' | 'after'
}

export interface Life {
  readonly backend: Backend
  readonly dead: boolean
  readonly died: Promise<void>
  /** How many batches it has sent. */
  readonly commits: number
  /** Dies now, wherever it is. */
  kill(): void
}

/** What a dead process is waiting for. */
export const never = <T>(): Promise<T> => new Promise<T>(() => {})

type Call = (...given: unknown[]) => unknown

export function mortal(backend: Backend, death?: Death): Life {
  const died = Promise.withResolvers<void>()
  let dead = false
  let commits = 0
  const kill = () => {
    dead = true
    died.resolve()
  }
  const untilDeath = async <T>(call: () => Promise<T>): Promise<T> => {
    if (dead) return never()
    const answer = await call()
    return dead ? never() : answer
  }
  const port = <P extends object>(of: P): P =>
    new Proxy(of, {
      get: (target, name) => {
        const found = Reflect.get(target, name) as unknown
        return typeof found === 'function' ? (...given: unknown[]) => untilDeath(async () => (found as Call).apply(target, given)) : found
      },
    })
  return {
    backend: {
      ...backend,
      commit: async (batch) => {
        const last = ++commits === death?.at
        if (last && death.when === 'before') kill()
        return untilDeath(async () => {
          const outcomes = await backend.commit(batch)
          if (last) kill()
          return outcomes
        })
      },
      journal: port(backend.journal),
      rows: port(backend.rows),
      queries: port(backend.queries),
      leases: port(backend.leases),
      blobs: port(backend.blobs),
      upkeep: port(backend.upkeep),
      signals: { watch: (tenant, wake, options) => backend.signals.watch(tenant, () => dead || wake(), options) },
    },
    get dead() {
      return dead
    },
    died: died.promise,
    get commits() {
      return commits
    },
    kill,
  }
}

/** A store that several processes use, one after the other or at once. Its time is moved for all of them. */
export interface Place {
  /** A backend of its own; it is closed with the test, whoever died with it. */
  backend(): Promise<Backend>
  open(backend: Backend, options?: Partial<StoreOptions>): Promise<Store>
  pass(ms: number): Promise<void>
}

export const PLACES = {
  sqlite: async (): Promise<Place> => {
    const path = tempFile()
    let moved = 0
    const now = () => Date.now() + moved
    return {
      backend: async () => closing(await sqliteBackend({ path, now, durability: 'normal' })),
      open: (backend, options) => open({ ...options, backend, clock: { now } }),
      pass: async (ms) => {
        moved += ms
      },
    }
  },
  postgres: async (): Promise<Place> => {
    const url = await tempDatabase()
    return {
      backend: async () => closing(await postgresBackend({ url, connections: 2 })),
      open: (backend, options) => open({ ...options, backend }),
      pass: (ms) => moveTime(url, ms),
    }
  },
} as const

function closing(backend: Backend): Backend {
  let closed: Promise<void> | undefined
  const close = () => (closed ??= backend.close())
  later(close)
  return { ...backend, close }
}

/** The same backend, through which every commit is changed on its way: how a control takes a safeguard away. */
export const spoiled = (backend: Backend, spoil: (commit: Commit) => Commit): Backend => ({
  ...backend,
  commit: (batch) => backend.commit(batch.map(spoil)),
})

/** Nobody asks any more who holds the lease. */
export const unfenced = (backend: Backend): Backend => ({
  ...spoiled(backend, (commit) => ({ ...commit, guards: commit.guards.filter(({ kind }) => kind !== 'fence') })),
  leases: {
    read: backend.leases.read,
    // Says that the lease is still held, whoever has it.
    renew: async (tenant, leases, ms) => {
      const { now } = await backend.leases.renew(tenant, leases, ms)
      return { now, leases: leases.map(({ id, fence }) => ({ id, fence, until: now + ms })) }
    },
  },
})
