// What a worker is told, and what it tells.

import { refuse } from '../../../model/errors.ts'
import type { TenantId } from '../../../model/ids.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'
import type { Scope } from '../../scope.ts'
import type { Claim } from '../claim.ts'
import { takeLease } from '../claim-item.ts'

export type WorkHandler<T> = (claim: Claim<T>) => unknown

export interface WorkerOptions {
  /** How many items at a time. The default is 8. */
  readonly concurrency?: number
  /** How long an item is held without a renewal; it is renewed as long as its handler works on it. */
  readonly lease?: Duration
  /** How long `close` waits for handlers that are underway before it lets go of them. The default is 10 s. */
  readonly drain?: Duration
  /**
   * How many items may have been worked on without that being written yet: so many, at most, come again when the process dies. The default is
   * `concurrency`: a handler's place is free once its item is completed. More of them let quick handlers go on while their completions are on the way.
   */
  readonly unwritten?: number
  /** Items of every tenant, where the store may see them all. The default is its own. */
  readonly tenants?: 'own' | 'all'
}

export interface WorkerStats {
  /** In hand: their handlers are at work, or what they did is being written. */
  readonly running: number
  /** Claimed, and not begun yet: only where handlers are quick. */
  readonly reserved: number
  readonly taken: number
  readonly completed: number
  /** Tried again later. */
  readonly failed: number
  /** Out of attempts. */
  readonly died: number
  /** Somebody else has them by now. */
  readonly lost: number
}

/** At work until it is closed. */
export interface QueueWorker extends AsyncDisposable {
  stats(): WorkerStats
  /** Takes nothing more; what is underway may end, and what does not is given back. */
  close(): Promise<void>
}

const CONCURRENCY = 8
const DRAIN_MS = 10_000

export interface WorkerTerms {
  readonly concurrency: number
  readonly leaseMs: number
  readonly drainMs: number
  /** At work, or done and not written yet, at most. */
  readonly outstanding: number
  /** Of every tenant. */
  readonly all: boolean
}

/** `only`: the tenant that a view of the store is confined to. */
export function takeTerms(scope: Scope, handler: unknown, options: WorkerOptions | undefined, only: TenantId | undefined): WorkerTerms {
  const { concurrency = CONCURRENCY, unwritten = 1, lease, drain = DRAIN_MS, tenants = 'own', ...unknown } = optionsOf(options, 'work')
  checkKnown(unknown, 'a worker')
  if (typeof handler !== 'function') throw invalidOption('handler', 'a function', handler)
  if (!Number.isSafeInteger(concurrency) || concurrency < 1) throw invalidOption('concurrency', 'an integer ≥ 1', concurrency)
  if (!Number.isSafeInteger(unwritten) || unwritten < 1) throw invalidOption('unwritten', 'an integer ≥ 1', unwritten)
  if (tenants !== 'own' && tenants !== 'all') throw invalidOption('tenants', "'own' or 'all'", tenants)
  if (tenants === 'all' && only !== undefined) throw refuse('TENANT_WALL', { tenant: scope.tenant, call: "work({ tenants: 'all' })" })
  const outstanding = Math.max(concurrency, unwritten)
  return { concurrency, outstanding, leaseMs: takeLease(scope, lease), drainMs: milliseconds(drain), all: tenants === 'all' }
}
