// The first argument of every kernel function: the engine, the tenant whose journal it is, and the actor.

import { refuse } from '../../model/errors.ts'
import type { Id, TenantId } from '../../model/ids.ts'
import type { StoredRow } from '../../model/rows.ts'
import type { Environment } from '../../ports/environment.ts'
import type { Redactor } from '../../redact/redactor.ts'
import type { FeatureSet } from '../feature.ts'
import type { KernelOptions } from '../options.ts'
import type { AuditTrail } from '../proof/audit-trail.ts'
import type { TypedBackend } from '../reading/typed-backend.ts'
import type { SessionMemory } from '../session/session-memory.ts'
import type { Renewals } from '../time/renewals.ts'
import type { Registry } from '../writing/decider.ts'
import type { Lane } from '../writing/lane.ts'
import type { RowMutex } from '../writing/row-mutex.ts'
import type { ClosedTenants } from './closed-tenants.ts'

/** One per open store. A feature keeps its own parts beside it: see engine-part.ts. */
export interface Engine {
  readonly options: KernelOptions
  readonly backend: TypedBackend
  readonly environment: Environment
  readonly lane: Lane
  /** Notes refused writes and denied requests. */
  readonly audit: AuditTrail
  readonly features: FeatureSet
  readonly registry: Registry
  readonly redactor: Redactor | undefined
  /** The key of masked secrets and of digests of inputs. */
  readonly redactKey: () => Promise<Uint8Array>
  readonly sessions: SessionMemory
  readonly closedTenants: ClosedTenants
  readonly rowMutex: RowMutex
  readonly payloadBytes: number
  readonly newId: <Name extends string>() => Id<Name>
  readonly newSalt: () => Uint8Array
  /** Aborted when the store closes: every wait ends. */
  readonly closing: AbortSignal
  /** Renews the leases and claims that this process holds. */
  readonly renewals: Renewals
}

export interface Scope {
  readonly engine: Engine
  readonly tenant: TenantId
  readonly actor: string
  /** The owner whose sessions this view sees. Absent: all sessions. */
  readonly own?: string | undefined
  /** While a transaction is built: the rows that it reads, each of them once. A row that is only looked out for is undefined. */
  readonly reads?: Map<string, Promise<StoredRow | undefined> | undefined>
}

export function checkOpen(engine: Engine): void {
  if (engine.closing.aborted) throw refuse('STORE_CLOSED')
}
