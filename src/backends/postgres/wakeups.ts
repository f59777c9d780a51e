// "Something changed" between nodes. Notifications are sent after the commit: inside its transaction they would serialise all commits at
// the flush (5 k became 1 k per second, measured). While a node hears none, it polls the heads of the tenants that it watches.

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
// A node that was killed between its commit and its notification told nobody, so watchers look now and then without being told. Patient ones
// may be many, and look at every sixth of these times.
const REMIND_EVERY_MS = 10_000
const PATIENT_REMINDERS = 6
const headsOf = 'select tenant, seq from inkfast.heads_v1($1::text[])'

export interface SignalOptions {
  /** How often the heads of watched tenants are polled while no notification arrives. */
  readonly lookEveryMs?: number
  /** How often watchers are woken while notifications arrive, in case a sender was killed before it told. */
  readonly remindEveryMs?: number
}

interface Watcher {
  readonly wake: () => void
  readonly patient: boolean
  readonly others: boolean
}

interface Watched {
  readonly watchers: Set<Watcher>
  /** The last head seen, 0 at first: watchers are woken for anything beyond. */
  seen: number
}

export class NodeSignals implements Wakeups {
  readonly #db: Database
  readonly #lookEveryMs: number
  readonly #remindEveryMs: number
  readonly #listener: Listener
  /** Sent with every notification, so that a node ignores its own. */
  readonly #node = randomBytes(8).toString('hex')
  readonly #tenants = new Map<TenantId, Watched>()
  readonly #names = new Map<string, TenantId>()
  /** Watchers that are not patient. */
  #eager = 0
  #timer: NodeJS.Timeout | undefined
  #looking = false
  #blindSince: number | undefined
  #remindedAt = performance.now()
  #reminders = 0
  #closed = false

  constructor(db: Database, { lookEveryMs = LOOK_EVERY_MS, remindEveryMs = REMIND_EVERY_MS }: SignalOptions = {}) {
    this.#db = db
    this.#lookEveryMs = lookEveryMs
    this.#remindEveryMs = remindEveryMs
    const heard = (told: string) => {
      const [name = '', node] = told.split('-')
      const tenant = this.#names.get(name)
      // A node ignores its own notifications: its watchers were woken when it wrote.
      if (tenant && node !== this.#node) this.#ring(tenant)
    }
    this.#listener = new Listener(db.connections, heard, () => void this.#look())
  }

  watch(tenant: TenantId, wake: () => void, { patient = false, others = false }: WatchOptions = {}): () => void {
    const watcher = { wake, patient, others }
    const watched = this.#tenants.get(tenant) ?? this.#begin(tenant)
    watched.watchers.add(watcher)
    if (!patient) this.#eager++
    this.#listener.open()
    this.#setPace()
    return () => {
      if (!watched.watchers.delete(watcher)) return
      if (!patient) this.#eager--
      if (watched.watchers.size === 0) {
        this.#tenants.delete(tenant)
        this.#names.delete(this.#db.wall.signal(tenant))
      }
      this.#setPace()
    }
  }

  #begin(tenant: TenantId): Watched {
    const watched = { watchers: new Set<Watcher>(), seen: 0 }
    this.#tenants.set(tenant, watched)
    this.#names.set(this.#db.wall.signal(tenant), tenant)
    return watched
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
    for (const watcher of [...(this.#tenants.get(tenant)?.watchers ?? [])]) if (!(own && watcher.others)) watcher.wake()
  }

  #ringAll(isMeant: (watcher: Watcher) => boolean = () => true): void {
    for (const { watchers } of [...this.#tenants.values()]) for (const watcher of [...watchers]) if (isMeant(watcher)) watcher.wake()
  }

  /** Heads are polled only while no notification arrives. */
  #tick(): void {
    if (!this.#listener.hears) return void this.#look()
    if (performance.now() - this.#remindedAt < this.#remindEveryMs) return
    this.#remindedAt = performance.now()
    this.#reminders++
    this.#listener.check()
    this.#ringAll(({ patient }) => !patient || this.#reminders % PATIENT_REMINDERS === 0)
  }

  async #look(): Promise<void> {
    if (this.#looking || this.#closed || this.#tenants.size === 0) return
    this.#looking = true
    const asked = { text: headsOf, values: [texts([...this.#tenants.keys()])] }
    const [heads = []] = await this.#db.read(STORE, asked).then(
      (found) => {
        this.#blindSince = undefined
        return found
      },
      () => this.#blind(),
    )
    this.#looking = false
    for (const [id, seq] of heads) {
      const watched = this.#tenants.get(id as TenantId)
      if (watched === undefined || watched.seen === Number(seq)) continue
      watched.seen = Number(seq)
      this.#ring(id as TenantId)
    }
  }

  /** The heads cannot be read. If that lasts, watchers are woken, so that their reads report the error. */
  #blind(): readonly [] {
    this.#blindSince ??= performance.now()
    if (performance.now() - this.#blindSince > BLIND_MS) this.#ringAll()
    return []
  }

  #setPace(): void {
    this.#listener.hold(this.#eager > 0)
    if (this.#tenants.size === 0 || this.#closed) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    this.#timer ??= setInterval(() => this.#tick(), this.#lookEveryMs)
    if (this.#eager > 0) this.#timer.ref()
    else this.#timer.unref()
  }
}
