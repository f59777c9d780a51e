// The public API of processes in a store.

import type { TenantId } from '../../../model/ids.ts'
import type { ProcessRow } from '../../../model/process.ts'
import type { Page } from '../../reading/list-rows.ts'
import { sessionToWrite } from '../../session/session-named.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import type { AgentProcess } from './agent-process.ts'
import type { RegisterOptions } from './definition.ts'
import {
  type GrantListOptions,
  type GrantOptions,
  giveGrant,
  listGrants,
  type ProcessGrant,
  revokeGrant,
  transferGrants,
} from './grants.ts'
import { findProcess } from './ids.ts'
import { listProcesses, type ProcessListOptions } from './list-processes.ts'
import { type ProcessNode, ProcessWorker, type ProcessWorkOptions } from './node.ts'
import { type LeavingReport, leaveProcesses } from './on-session-deleted.ts'
import { ProcessHandle } from './process-handle.ts'
import { type PruneReport, pruneProcesses } from './prune.ts'
import { registerProcess } from './register.ts'
import type { ProcessHandler } from './run-process.ts'

/** Callers name a process by its name or by its id, and a session by its key or by its id. */
export interface ProcessRegistry {
  /** Registers a process. The same name with the same definition returns the same process; another definition is refused. */
  register(name: string, options: RegisterOptions): Promise<AgentProcess>
  get(name: string): Promise<AgentProcess | undefined>
  /** Lists processes that have not ended, newest first. `all` and `state` list others. */
  list(options?: ProcessListOptions): Promise<Page<ProcessRow>>
  /** Gives a session a handle on a process, or changes the kind and the label of the handle. */
  grant(name: string, session: string, options?: GrantOptions): Promise<ProcessGrant>
  /** Takes a handle back. Returns whether there was one. */
  revoke(name: string, session: string): Promise<boolean>
  /** Moves handles from one session to another, all of them or none. */
  transfer(names: readonly string[], from: string, to: string): Promise<readonly ProcessGrant[]>
  grants(options: GrantListOptions): Promise<Page<ProcessGrant>>
  /** Takes back all handles of a session and stops waking it, as deleting the session does. The processes stay. */
  leave(session: string): Promise<LeavingReport>
  /** Removes processes that ended before this time, with everything that belongs to them. The journal keeps their events. */
  prune(options: { readonly before: Date | number }): Promise<PruneReport>
  /** Runs processes of these kinds, and follows requests to abandon a process of any kind. */
  work(handlers: Readonly<Record<string, ProcessHandler>>, options?: ProcessWorkOptions): ProcessNode
}

/** `only` is the tenant whose processes a node may run. The default is all tenants. */
export const processesOf = (scope: Scope, only: TenantId | undefined): ProcessRegistry => ({
  register: async (name, options) => new ProcessHandle(scope, await registerProcess(scope, name, options)),
  get: async (name) => {
    const row = await findProcess(scope, name)
    return row && new ProcessHandle(scope, row)
  },
  list: (options) => listProcesses(scope, options),
  grant: (name, session, options) => giveGrant(scope, name, session, options),
  revoke: (name, session) => revokeGrant(scope, name, session),
  transfer: (names, from, to) => transferGrants(scope, names, from, to),
  grants: (options) => listGrants(scope, options),
  leave: async (session) => {
    checkOpen(scope.engine)
    return leaveProcesses(scope, await sessionToWrite(scope, session))
  },
  prune: (options) => pruneProcesses(scope, options),
  work: (handlers, options) => new ProcessWorker(scope, handlers, options, only),
})
