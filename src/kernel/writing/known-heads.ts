// The head of each tenant's journal as this node last saw it. Every send carries it as `since`: if the answer is lost or late, the commit
// is found beyond that head.

import { refuse } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import type { Backend } from '../../ports/backend.ts'
import type { Commit } from '../../ports/commit.ts'
import type { Environment } from '../../ports/environment.ts'
import { Watchdog } from '../measuring/watchdog.ts'

export class KnownHeads {
  readonly #backend: Backend
  readonly #watchdog: Watchdog
  readonly #heads = new Map<TenantId, number>()

  constructor(backend: Backend, environment: Environment, timeoutMs: number) {
    this.#backend = backend
    this.#watchdog = new Watchdog(environment, timeoutMs)
  }

  /**
   * Only the first commit of a tenant waits for its head. Later ones carry the head that this node wrote last, however long ago: events
   * beyond it are searched by their ids, so the search costs the same after any number of them.
   */
  mark(commit: Commit): Commit | Promise<Commit> {
    const since = this.#heads.get(commit.tenant)
    if (since !== undefined) return { ...commit, since }
    return this.#read(commit.tenant).then((seq) => {
      this.#heads.set(commit.tenant, seq)
      return { ...commit, since: seq }
    })
  }

  learn(tenant: TenantId, seq: number): void {
    this.#heads.set(tenant, seq)
  }

  #read(tenant: TenantId): Promise<number> {
    return new Promise((resolve, reject) => {
      const answered = this.#watchdog.watch((ms) => reject(refuse('BACKEND_FAILED', { reason: `no answer within ${ms} ms` })))
      this.#backend.journal
        .head(tenant)
        .then(({ seq }) => resolve(seq), reject)
        .finally(answered)
    })
  }
}
