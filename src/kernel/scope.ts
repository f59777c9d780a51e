// Whose journal, on whose behalf, with what at hand: what every kernel function is given first.

import { refuse } from '../model/errors.ts'
import type { Id, TenantId } from '../model/ids.ts'
import type { Backend } from '../ports/backend.ts'
import type { Environment } from '../ports/environment.ts'
import type { Closings } from './closings.ts'
import type { Registry } from './decider.ts'
import type { Lane } from './lane.ts'
import type { Redactor } from './redact/redactor.ts'
import type { Keeper } from './runs/keeper.ts'
import type { OpenRuns } from './runs/open-runs.ts'
import type { SessionMemory } from './session-memory.ts'
import type { Turns } from './turns.ts'
import type { Follows } from './work/follow.ts'
import type { Holds } from './work/holds.ts'
import type { Scheduler } from './work/scheduler.ts'

/** One per open store. */
export interface Engine {
  readonly backend: Backend
  readonly environment: Environment
  readonly lane: Lane
  readonly registry: Registry
  readonly redactor: Redactor | undefined
  readonly sessions: SessionMemory
  readonly closings: Closings
  readonly turns: Turns
  readonly payloadBytes: number
  readonly newId: <Name extends string>() => Id<Name>
  readonly newSalt: () => Uint8Array
  /** Aborted when the store closes: whoever waits, stops. */
  readonly closing: AbortSignal
  readonly keeper: Keeper
  /** Runs that are open in this process. */
  readonly openRuns: OpenRuns
  /** Claims of work items that this process holds. */
  readonly holds: Holds
  /** What items come from. */
  readonly follows: Follows
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
