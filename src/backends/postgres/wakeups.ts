// "Something changed" between nodes. Notifications are sent after the commit: inside its transaction they would serialise all commits at
// the flush (5 k became 1 k per second, measured). A node that misses one is saved by polling the heads.

import { randomBytes } from 'node:crypto'
import type { TenantId } from '../../model/ids.ts'
import type { Wakeups, WatchOptions } from '../../ports/wakeups.ts'
import { texts } from './arrays.ts'
import type { Database } from './database.ts'
import { Listener } from './listener.ts'
import { STORE } from './wall.ts'

const LOOK_EVERY_MS = 1000
// Longer than a server takes to restart after a crash.
const BLIND_MS = 10_000
const headsOf = 'select tenant, seq from inkfast.heads_v1($1::text[])'

export interface SignalOptions {
  /** How often the heads of watched tenants are polled, even without notifications. */
  readonly lookEveryMs?: number
}

interface Watcher {
  readonly tenant: TenantId
  readonly wake: () => void
  readonly patient: boolean
  readonly others: boolean
}

export class NodeSignals implements Wakeups {
  readonly #db: Database
  readonly #lookEveryMs: number
  readonly #listener: Listener
  /** Sent with every notification, so that a node ignores its own. */
  readonly #node = randomBytes(8).toString('hex')
  readonly #watchers = new Set<Watcher>()
  /** The last heads seen, 0 at first: watchers are woken for anything beyond. */
  readonly #seen = new Map<TenantId, number>()
  readonly #names = new Map<string, TenantId>()
  #timer: NodeJS.Timeout | undefined
  #looking = false
  #blindSince: number | undefined
  #closed = false

  constructor(db: Database, { lookEveryMs = LOOK_EVERY_MS }: SignalOptions = {}) {
    this.#db = db
    this.#lookEveryMs = lookEveryMs
    const heard = (told: string) => {
      const [name = '', node] = told.split('-')
      const tenant = this.#names.get(name)
      // A node ignores its own notifications: its watchers were woken when it wrote.
      if (tenant && node !== this.#node) this.#ring(tenant)
    }
    this.#listener = new Listener(db.connections, heard, () => void this.#look())
  }

  watch(tenant: TenantId, wake: () => void, { patient = false, others = false }: WatchOptions = {}): () => void {
    const watcher = { tenant, wake, patient, others }
    this.#watchers.add(watcher)
    if (!this.#seen.has(tenant)) this.#seen.set(tenant, 0)
    this.#names.set(this.#db.wall.signal(tenant), tenant)
    this.#listener.open()
    this.#setPace()
    return () => {
      if (!this.#watchers.delete(watcher)) return
      if (![...this.#watchers].some((other) => other.tenant === tenant)) {
        this.#seen.delete(tenant)
        this.#names.delete(this.#db.wall.signal(tenant))
      }
      this.#setPace()
    }
  }

  /** Called after commits of this node: wakes its own watchers at once, and other nodes soon. */
  wake(tenants: Iterable<TenantId>): void {
    for (const tenant of new Set(tenants)) {
      this.#ring(tenant, true)
      this.#listener.tell(`${this.#db.wall.signal(tenant)}-${this.#node}`)
    }
  }

  /** Why other nodes are noticed only by polling; undefined if notifications work. */
  deaf(): string | undefined {
    return this.#listener.deaf
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#setPace()
    await this.#listener.close()
  }

  #ring(tenant: TenantId, own = false): void {
    for (const watcher of [...this.#watchers]) if (watcher.tenant === tenant && !(own && watcher.others)) watcher.wake()
  }

  async #look(): Promise<void> {
    if (this.#looking || this.#closed || this.#seen.size === 0) return
    this.#looking = true
    const asked = { text: headsOf, values: [texts([...this.#seen.keys()])] }
    const [heads = []] = await this.#db.read(STORE, asked).then(
      (found) => {
        this.#blindSince = undefined
        return found
      },
      () => this.#blind(),
    )
    this.#looking = false
    for (const [id, seq] of heads) {
      const tenant = id as TenantId
      const seen = this.#seen.get(tenant)
      if (seen === undefined || seen === Number(seq)) continue
      this.#seen.set(tenant, Number(seq))
      this.#ring(tenant)
    }
  }

  /** The heads cannot be read. If that lasts, watchers are woken, so that their reads report the error. */
  #blind(): readonly [] {
    this.#blindSince ??= performance.now()
    if (performance.now() - this.#blindSince > BLIND_MS) for (const { wake } of [...this.#watchers]) wake()
    return []
  }

  #setPace(): void {
    const eager = [...this.#watchers].some(({ patient }) => !patient)
    this.#listener.hold(eager)
    if (this.#watchers.size === 0 || this.#closed) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    this.#timer ??= setInterval(() => void this.#look(), this.#lookEveryMs)
    if (eager) this.#timer.ref()
    else this.#timer.unref()
  }
}
