// Stores with simulated time, in memory, in a file or in a database. They have any number of nodes, each with its own wrong clock. In memory
// no timer runs, so the same seed writes the same journal.

import { Client } from 'pg'
import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { sqliteBackend } from '../../src/backends/sqlite/backend.ts'
import { freshMemory, handleTo } from '../../src/conformance/shared-memory.ts'
import { nodeEnvironment } from '../../src/environment.ts'
import type { Store } from '../../src/index.ts'
import { createStore } from '../../src/kernel/store.ts'
import type { TenantId } from '../../src/model/ids.ts'
import type { Backend } from '../../src/ports/backend.ts'
import type { Environment, Timer } from '../../src/ports/environment.ts'
import { type Death, type Life, mortal } from '../runs/crashing-backend.ts'
import { later, tempDatabase, tempFile } from '../support/engines.ts'
import type { Chance } from './cron-year-chance.ts'

export interface Place {
  backend(): Promise<Backend>
  /** Store time. */
  now(): Promise<number>
  /** As far as it is known without asking. */
  readonly about: number
  move(ms: number): Promise<void>
  readonly timer: Timer
}

export function memoryPlace(begin: number): Place {
  let now = begin
  const kept = freshMemory(() => now)
  return madeUp(
    async () => handleTo(kept),
    () => now,
    (ms) => {
      now += ms
    },
  )
}

export function filePlace(begin: number): Place {
  const path = tempFile()
  let now = begin
  return madeUp(
    // What is tried here is which commits arrive, not what a power cut leaves of them.
    () => sqliteBackend({ path, now: () => now, durability: 'normal' }),
    () => now,
    (ms) => {
      now += ms
    },
  )
}

const madeUp = (backend: Place['backend'], now: () => number, add: (ms: number) => void): Place => ({
  backend,
  now: async () => now(),
  get about() {
    return now()
  },
  move: async (ms) => add(ms),
  timer: {
    after: (ms, signal) => (ms < 1000 ? new Promise<void>((resolve) => setImmediate(resolve)) : untilAborted(signal)),
    idly: (_, signal) => untilAborted(signal),
    soon: (callback) => void setImmediate(callback),
  },
})

/** What takes long never happens: nobody waits. */
const untilAborted = (signal?: AbortSignal): Promise<void> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }))

/** Its time goes on by itself besides being moved. */
export async function databasePlace(begin: number): Promise<Place> {
  const url = await tempDatabase()
  const owner = new Client(url)
  await owner.connect()
  later(() => owner.end())
  const now = async () => Number((await owner.query('select inkfast.now_v1() as now')).rows[0].now)
  let moved = 0
  const move = async (ms: number) => {
    await owner.query('update inkfast.clock set offset_ms = offset_ms + $1', [ms])
    moved += ms
  }
  await move(begin - (await now()))
  return {
    backend: () => postgresBackend({ url, connections: 3 }),
    now,
    get about() {
      return Date.now() + moved
    },
    move,
    timer: nodeEnvironment.timer,
  }
}

/** When a commit was decided on, in store time: not before `low`, and not after `high`. */
export interface Decided {
  readonly low: number
  readonly high: number
}

/** Everything that was ever written, with its time: kept outside, so that no clock of a node has a say in it. */
export class Diary {
  readonly #written = new Map<string, Decided>()
  readonly #place: Place
  #low = 0
  commits = 0

  constructor(place: Place) {
    this.#place = place
  }

  /** Whatever was begun before has ended. */
  async turnPage(): Promise<void> {
    this.#low = await this.#place.now()
  }

  at(tenant: TenantId, seq: number): Decided {
    const found = this.#written.get(`${tenant}/${seq}`)
    if (!found) throw new Error(`nobody wrote ${tenant}/${seq}`)
    return found
  }

  keep(backend: Backend): Backend {
    return {
      ...backend,
      commit: async (batch) => {
        const outcomes = await backend.commit(batch)
        for (const outcome of outcomes) {
          if (!outcome.ok || outcome.repeated) continue
          this.commits++
          for (const { tenant, seq } of outcome.receipts) this.#written.set(`${tenant}/${seq}`, { low: this.#low, high: outcome.now })
        }
        return outcomes
      },
    }
  }
}

/** A process with a store in its hands. */
export interface Node {
  readonly name: string
  readonly store: Store
  readonly life: Life
  /** Draws for this node alone. */
  readonly chance: Chance
  /** By how much its clock is wrong. */
  error: number
  /** The answer to its next commit does not arrive. */
  deaf: boolean
  /** What a system does for a process that has died. */
  bury(): Promise<void>
}

export type Around = (backend: Backend) => Backend

export interface Birth {
  readonly place: Place
  readonly diary: Diary
  readonly name: string
  readonly chance: Chance
  readonly death?: Death
  readonly around?: Around
}

export async function bearNode({ place, diary, name, chance, death, around = (backend) => backend }: Birth): Promise<Node> {
  const own = await place.backend()
  later(() => own.close())
  const node = { name, chance, error: 0, deaf: false }
  let steady = 0
  const environment: Environment = {
    clock: { now: () => Math.max(0, Math.round(place.about) + node.error), monotonic: () => ++steady },
    timer: place.timer,
    entropy: { bytes: (count) => chance.bytes(count) },
    digest: nodeEnvironment.digest,
    logger: nodeEnvironment.logger,
  }
  const kept = diary.keep(around(own))
  const hearing: Backend = {
    ...kept,
    commit: async (batch) => {
      // Time goes on while others are at work.
      if (chance.happens(0.05)) await place.move(chance.between(1, 200))
      const outcomes = await kept.commit(batch)
      if (!node.deaf) return outcomes
      node.deaf = false
      throw new Error('the connection was lost')
    },
  }
  const life = mortal(hearing, death)
  const store = await createStore(life.backend, environment, { schedule: false, redact: false })
  return Object.assign(node, { store, life, bury: () => own.close() })
}
