// The public API of processes in a store.

import { canonical } from '../../model/canonical.ts'
import type { TenantId } from '../../model/ids.ts'
import { checkKnown, filterOf } from '../../model/options.ts'
import { hasEnded, PROCESS_STATES, type ProcessRow, type ProcessState } from '../../model/process.ts'
import type { ColumnValue } from '../../model/tables.ts'
import { admit } from '../draft.ts'
import { checkLast, checkState, listRows, type Page, type PageOptions } from '../list.ts'
import { takeName } from '../names.ts'
import { checkOpen, type Scope } from '../scope.ts'
import { sessionToRead, sessionToWrite } from '../session-named.ts'
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
import { type ProcessNode, ProcessWorker, type ProcessWorkOptions } from './node.ts'
import { type LeavingReport, leaveProcesses } from './on-session-deleted.ts'
import { ProcessHandle } from './process-handle.ts'
import { type PruneReport, pruneProcesses } from './prune.ts'
import { registerProcess } from './register.ts'
import type { ProcessHandler } from './run-process.ts'

export interface ProcessListOptions extends PageOptions {
  readonly state?: ProcessState
  readonly kind?: string
  /** Only processes that are to wake the session with this key or id. */
  readonly wake?: string
  /** Only processes whose provenance names the session with this key or id. */
  readonly session?: string
  /** Only processes that were registered with an equal definition. */
  readonly definition?: unknown
  /** `true`: only processes that have not ended. `false`: only ended ones. */
  readonly live?: boolean
}

/** Callers name a process by its name or by its id, and a session by its key or by its id. */
export interface ProcessRegistry {
  /** Registers a process. The same name with the same definition returns the same process; another definition is refused. */
  register(name: string, options: RegisterOptions): Promise<AgentProcess>
  get(name: string): Promise<AgentProcess | undefined>
  /** Lists processes, newest first. */
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

async function listProcesses(scope: Scope, options?: ProcessListOptions): Promise<Page<ProcessRow>> {
  const { state, kind, wake, session: of, definition, live, last = 50, cursor, ...unknown } = filterOf(options, 'processes.list')
  checkKnown(unknown, 'a list of processes')
  checkLast(last, 'processes')
  checkState(state, PROCESS_STATES, 'process')
  const wanted = definition === undefined ? undefined : canonical(admit(scope, definition))
  const named = kind === undefined ? undefined : takeName(scope, kind, 'a process kind')
  const session = wake === undefined ? undefined : await sessionToRead(scope, wake)
  const origin = of === undefined ? undefined : await sessionToRead(scope, of)
  const [index, equals]: readonly [string, readonly ColumnValue[]] = session
    ? ['byWake', [session]]
    : state
      ? ['byState', [state]]
      : named === undefined
        ? ['byBorn', []]
        : ['byKind', [named]]
  const fits = (row: ProcessRow) =>
    (state === undefined || row.state === state) &&
    (origin === undefined || row.provenance?.session === origin) &&
    (named === undefined || row.kind === named) &&
    (live === undefined || hasEnded(row.state) !== live) &&
    (wanted === undefined || (row.definition !== undefined && canonical(row.definition) === wanted))
  const items: ProcessRow[] = []
  // A page has at most as many rows as are still wanted, so that the cursor stands after the last row that was read.
  for (let from = cursor; ; ) {
    const page = await listRows(
      scope,
      'processes',
      { index, equals },
      { last: last - items.length, ...(from !== undefined && { cursor: from }) },
    )
    items.push(...page.items.filter(fits))
    if (page.cursor === undefined || items.length === last) return { items, ...(page.cursor !== undefined && { cursor: page.cursor }) }
    from = page.cursor
  }
}
