// Where each tenant's journal stood when this node last heard of it. Every sending says so (`since`): if it is lost, or late, what arrived
// is found beyond that point.

import { refuse } from '../model/errors.ts'
import type { TenantId } from '../model/ids.ts'
import type { Backend } from '../ports/backend.ts'
import type { Commit } from '../ports/commit.ts'
import type { Environment } from '../ports/environment.ts'
import { Watchdog } from './watchdog.ts'

interface KnownHead {
  readonly seq: number
  readonly at: number
}

// How long the head that a commit returned is taken for the head; after that it is looked up again, or others' events would have to be
// searched.
const FRESH_MS = 50

export class KnownHeads {
  readonly #backend: Backend
  readonly #environment: Environment
  readonly #watchdog: Watchdog
  readonly #heads = new Map<TenantId, KnownHead>()

  constructor(backend: Backend, environment: Environment, timeoutMs: number) {
    this.#backend = backend
    this.#environment = environment
    this.#watchdog = new Watchdog(environment, timeoutMs)
  }

  /** This very call is the hot path: with a fresh head it waits for nothing. */
  mark(commit: Commit): Commit | Promise<Commit> {
    const head = this.#heads.get(commit.tenant)
    const now = this.#environment.clock.monotonic()
    if (head && now - head.at <= FRESH_MS) return { ...commit, since: head.seq }
    return this.#read(commit.tenant, head?.seq).then((seq) => {
      this.#heads.set(commit.tenant, { seq, at: now })
      return { ...commit, since: seq }
    })
  }

  learn(tenant: TenantId, seq: number): void {
    this.#heads.set(tenant, { seq, at: this.#environment.clock.monotonic() })
  }

  /** An older head is as safe as a newer one, only slower to search from: better than failing a write that could go through. */
  #read(tenant: TenantId, known: number | undefined): Promise<number> {
    return new Promise((resolve, reject) => {
      const fallBack = (error: unknown) => (known === undefined ? reject(error) : resolve(known))
      const answered = this.#watchdog.watch((ms) => fallBack(refuse('BACKEND_FAILED', { reason: `no answer within ${ms} ms` })))
      this.#backend.journal
        .head(tenant)
        .then(({ seq }) => resolve(seq), fallBack)
        .finally(answered)
    })
  }
}
