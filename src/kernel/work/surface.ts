// What a store offers about work and time, put together for one tenant's view.

import type { TenantId } from '../../model/ids.ts'
import type { Backlog } from '../../model/queries.ts'
import { type Approvals, approvalsOf } from '../approvals/surface.ts'
import { type Cron, cronOf } from '../cron/jobs.ts'
import { type ProcessRegistry, processesOf } from '../processes/registry.ts'
import { checkOpen, type Scope } from '../scope.ts'
import { type Triggers, triggersOf } from '../triggers/triggers.ts'
import { type Queue, queueOf } from './queue.ts'

export interface WorkSurface {
  /** A queue by its name; it is there once something was offered. */
  queue<T = unknown>(name: string): Queue<T>
  /** Every queue that holds something, and how much. */
  queues(): Promise<readonly Backlog[]>
  /** Jobs by the clock. */
  readonly cron: Cron
  /** Who is told when something fires. */
  readonly triggers: Triggers
  /** Long-lived children of agents. */
  readonly processes: ProcessRegistry
  readonly approvals: Approvals
}

/** `only` is the tenant whose work may be done here; without it that of all. */
export const workSurface = (scope: Scope, only: TenantId | undefined): WorkSurface => ({
  queue: <T>(name: string) => {
    checkOpen(scope.engine)
    return queueOf<T>(scope, name, only)
  },
  queues: async () => {
    checkOpen(scope.engine)
    return scope.engine.backend.queries.backlog(scope.tenant)
  },
  cron: cronOf(scope, only),
  triggers: triggersOf(scope),
  processes: processesOf(scope, only),
  approvals: approvalsOf(scope),
})
