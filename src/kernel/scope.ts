// Whose journal, on whose behalf, with what at hand: what every kernel function is given first.

import { refuse } from '../model/errors.ts'
import type { Id, TenantId } from '../model/ids.ts'
import type { Environment } from '../ports/environment.ts'
import type { ClosedTenants } from './closed-tenants.ts'
import type { Registry } from './decider.ts'
import type { FeatureSet } from './feature.ts'
import type { Lane } from './lane.ts'
import type { Redactor } from './redact/redactor.ts'
import type { Renewals } from './renewals.ts'
import type { RowMutex } from './row-mutex.ts'
import type { Keeper } from './runs/keeper.ts'
import type { LocalRuns } from './runs/local-runs.ts'
import type { SessionMemory } from './session-memory.ts'
import type { TypedBackend } from './typed-backend.ts'
import type { Scheduler } from './work/scheduler.ts'

/** One per open store. */
export interface Engine {
  readonly backend: TypedBackend
  readonly environment: Environment
  readonly lane: Lane
  readonly features: FeatureSet
  readonly registry: Registry
  readonly redactor: Redactor | undefined
  readonly sessions: SessionMemory
  readonly closedTenants: ClosedTenants
  readonly rowMutex: RowMutex
  readonly payloadBytes: number
  readonly newId: <Name extends string>() => Id<Name>
  readonly newSalt: () => Uint8Array
  /** Aborted when the store closes: whoever waits, stops. */
  readonly closing: AbortSignal
  readonly keeper: Keeper
  /** Runs that are open in this process. */
  readonly localRuns: LocalRuns
  /** Renews the leases and claims that this process holds. */
  readonly renewals: Renewals
  /** Items that a caller in this process is claiming right now, by tenant and id. */
  readonly claiming: Set<string>
  readonly scheduler: Scheduler
}

export interface Scope {
  readonly engine: Engine
  readonly tenant: TenantId
  readonly actor: string
}

export function checkOpen(engine: Engine): void {
  if (engine.closing.aborted) throw refuse('STORE_CLOSED')
}
