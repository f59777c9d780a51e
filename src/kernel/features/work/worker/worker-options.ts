// The options of a worker, and its stats.

import type { TenantId } from '../../../../model/ids.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../../model/options.ts'
import { type Duration, milliseconds } from '../../../../model/time.ts'
import { deny } from '../../../proof/audit-trail.ts'
import type { Scope } from '../../../wiring/scope.ts'
import type { Claim } from '../claim.ts'
import { takeLease } from '../claim-item.ts'

export type WorkHandler<T> = (claim: Claim<T>) => unknown

export interface WorkerOptions {
  /** How many handlers run at a time. The default is 8. */
  readonly concurrency?: number
  /** How long a claim lasts without a renewal. The worker renews it while the handler runs. */
  readonly lease?: Duration
  /** How long `close` waits for running handlers before it gives their items back. The default is 10 s. */
  readonly drain?: Duration
  /**
   * How many items may be running or done without their completion being written: at most that many are handled again when the process dies. The
   * default is `concurrency`: a slot is free once its item is completed. A larger number lets quick handlers go on while completions are written.
   */
  readonly unwritten?: number
  /** `'all'` takes items of every tenant, if the store may see them. The default is `'own'`. */
  readonly tenants?: 'own' | 'all'
}

export interface WorkerStats {
  /** Items whose handler runs, or whose outcome is being written. */
  readonly running: number
  /** Items claimed ahead (prefetch): their handlers have not begun. Only while handlers are quick. */
  readonly reserved: number
  readonly taken: number
  readonly completed: number
  /** Attempts that failed and are retried after their backoff. */
  readonly failed: number
  /** Items without attempts left: dead letters. */
  readonly died: number
  /** Items that another holder claimed meanwhile. */
  readonly lost: number
}

/** Works until it is closed. */
export interface QueueWorker extends AsyncDisposable {
  stats(): WorkerStats
  /** Claims nothing more, waits for running handlers (`drain`), and gives the other items back. */
  close(): Promise<void>
}

const CONCURRENCY = 8
const DRAIN_MS = 10_000

export interface WorkerTerms {
  readonly concurrency: number
  readonly leaseMs: number
  readonly drainMs: number
  /** How many items may be running or done without their completion being written. */
  readonly outstanding: number
  readonly tenants: 'own' | 'all'
}

/** `only` is the tenant that a view of the store is confined to. */
export function takeTerms(scope: Scope, handler: unknown, options: WorkerOptions | undefined, only: TenantId | undefined): WorkerTerms {
  const { concurrency = CONCURRENCY, unwritten = 1, lease, drain = DRAIN_MS, tenants = 'own', ...unknown } = optionsOf(options, 'work')
  checkKnown(unknown, 'a worker')
  if (typeof handler !== 'function') throw invalidOption('handler', 'a function', handler)
  if (!Number.isSafeInteger(concurrency) || concurrency < 1) throw invalidOption('concurrency', 'an integer ≥ 1', concurrency)
  if (!Number.isSafeInteger(unwritten) || unwritten < 1) throw invalidOption('unwritten', 'an integer ≥ 1', unwritten)
  if (tenants !== 'own' && tenants !== 'all') throw invalidOption('tenants', "'own' or 'all'", tenants)
  if (tenants === 'all' && only !== undefined) throw deny(scope, 'TENANT_WALL', { tenant: scope.tenant, call: "work({ tenants: 'all' })" })
  const outstanding = Math.max(concurrency, unwritten)
  return { concurrency, outstanding, leaseMs: takeLease(scope, lease), drainMs: milliseconds(drain), tenants }
}
