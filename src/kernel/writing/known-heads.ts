// The head of each tenant's journal as this node last saw it. Every send carries it as `since`: if the answer is lost or late, the commit
// is found beyond that head.

import { refuse } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import type { Backend } from '../../ports/backend.ts'
import type { Commit } from '../../ports/commit.ts'
import type { Environment } from '../../ports/environment.ts'
import { Watchdog } from '../measuring/watchdog.ts'

interface KnownHead {
  readonly seq: number
  readonly at: number
}

// How long a head from a commit counts as fresh. After that it is read again, because a search beyond an old head also meets the events of
// other nodes.
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

  /** The hot path: with a fresh head it does not wait. */
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

  /** Falls back to the known head if reading fails. An older head is just as safe, only slower to search from. */
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
