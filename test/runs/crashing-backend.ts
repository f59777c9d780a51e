// A backend that crashes at a given commit: from then on no call reaches the store and none returns, as in a killed process. The next
// process opens the same store again.

import { sqliteBackend } from '../../src/backends/sqlite/backend.ts'
import { freshMemory, handleTo } from '../../src/conformance/shared-memory.ts'
import { open, type Store, type StoreOptions } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import type { Outcome } from '../../src/ports/commit.ts'
import { later, lentBackend, lentDatabase, moveTime, tempFile } from '../support/engines.ts'

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
      audit: port(backend.audit),
      upkeep: port(backend.upkeep),
      wakeups: { watch: (tenant, wake, options) => backend.wakeups.watch(tenant, () => dead || wake(), options) },
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
  /** Looks on from outside, and never dies. */
  readonly world: Store
  backend(): Promise<Backend>
  open(backend: Backend, options?: Partial<StoreOptions>): Promise<Store>
  pass(ms: number): Promise<void>
}

export type Engine = 'sqlite' | 'postgres'

export async function makePlace(engine: Engine): Promise<Place> {
  const place = engine === 'sqlite' ? fileAt(tempFile()) : databaseAt(await lentDatabase())
  const world = await place.open(await place.backend())
  later(() => world.close())
  return { ...place, world }
}

/** The same also in memory, where nobody looks on from outside. */
export async function placeOn(engine: 'memory' | Engine): Promise<Omit<Place, 'world'>> {
  if (engine !== 'memory') return makePlace(engine)
  let moved = 0
  const now = () => Date.now() + moved
  const kept = freshMemory(now)
  return {
    backend: async () => handleTo(kept),
    open: (backend, options) => open({ ...options, backend, clock: { now } }),
    pass: async (ms) => {
      moved += ms
    },
  }
}

function fileAt(path: string): Omit<Place, 'world'> {
  let moved = 0
  const now = () => Date.now() + moved
  return {
    // What is tried here is which commits arrive, not what a power cut leaves of them.
    backend: () => sqliteBackend({ path, now, durability: 'normal' }),
    open: (backend, options) => open({ ...options, backend, clock: { now } }),
    pass: async (ms) => {
      moved += ms
    },
  }
}

const databaseAt = (url: string): Omit<Place, 'world'> => ({
  backend: async () => lentBackend(url),
  open: (backend, options) => open({ ...options, backend }),
  pass: (ms) => moveTime(url, ms),
})

/** Outcomes are told to the program and kept nowhere: what a recording after the fact would be, when the crash comes first. */
export const unrecorded = (backend: Backend): Backend => ({
  ...backend,
  commit: async (batch) => {
    const kept = batch.filter(({ events }) => events[0]?.type !== 'effect.settled')
    const outcomes = [...(kept.length > 0 ? await backend.commit(kept) : [])]
    return batch.map((commit) => {
      if (kept.includes(commit)) return outcomes.shift() as Outcome
      const receipts = commit.events.map(({ id }) => ({ id, seq: 0, hash: '', tenant: commit.tenant }))
      return { ok: true, receipts, repeated: false, now: Date.now() }
    })
  },
})
