// `store.snapshots`: the state of an execution at one point of its journal, so that a restart reads the events after it only.

import { type Json, takeExact } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import type { Event } from '../../../model/event.ts'
import type { Id, SessionId } from '../../../model/ids.ts'
import { checkKey, checkKnown, checkSeq, invalidOption, optionsOf } from '../../../model/options.ts'
import type { SnapshotRow } from '../../../model/snapshot.ts'
import { derivedId } from '../../naming/derived-id.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { listRows, type Page, type PageOptions } from '../../reading/list-rows.ts'
import { readEvents } from '../../reading/read-events.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'
import { execute, readRow } from '../../writing/execute.ts'
import { sessionNamed, theSession } from '../sessions/find-session.ts'
import { withValue } from '../values/staged.ts'
import { readValue } from '../values/values.ts'
import { snapshot } from './snapshot-decider.ts'

export interface SnapshotOptions {
  /** The state of the execution: JSON, stored exactly. */
  readonly state: unknown
  /** The step it is at. */
  readonly step?: string
  /** Results of the steps so far. */
  readonly outputs?: unknown
  readonly variables?: unknown
  readonly user?: string
  /** The last event of the journal that the snapshot covers. The default is the last event of the execution. */
  readonly seq?: number
}

/** A snapshot in a list. */
export type SnapshotSummary = Omit<SnapshotRow, 'ref' | 'id'>

export interface ExecutionSnapshot extends SnapshotSummary {
  readonly state: unknown
  readonly outputs?: unknown
  readonly variables?: unknown
}

export interface Snapshots {
  /**
   * Saves the snapshot of an execution, which is a session, named by its key or its id. Refused if it is older than the stored one, or ahead
   * of the journal.
   */
  save(execution: string, options: SnapshotOptions): Promise<SnapshotSummary>
  load(execution: string): Promise<ExecutionSnapshot | undefined>
  /** Newest first. */
  list(options?: PageOptions): Promise<Page<SnapshotSummary>>
  /** Says whether there was one. */
  delete(execution: string): Promise<boolean>
  /** Returns the snapshot and the events of the execution after it, or undefined if there is no snapshot. */
  resumeFrom(
    execution: string,
    options?: { readonly signal?: AbortSignal },
  ): Promise<{ readonly snapshot: ExecutionSnapshot; readonly events: readonly Event[] } | undefined>
}

export const storeSnapshots = (scope: Scope): Snapshots => ({
  save: (execution, options) => save(scope, execution, options),
  load: (execution) => load(scope, execution),
  list: async (options) => {
    const page = await listRows(scope, 'snapshots', { index: 'byBorn', equals: [] }, optionsOf(options, 'snapshots.list'))
    return { ...page, items: page.items.filter(({ ref }) => ref !== undefined).map(summary) }
  },
  delete: async (execution) => {
    const row = await find(scope, execution)
    if (row?.ref !== undefined) await execute(scope, snapshot, row.id, { verb: 'delete' }, { session: row.session })
    return row?.ref !== undefined
  },
  resumeFrom: async (execution, options) => {
    const { signal, ...unknown } = optionsOf(options, 'snapshots.resumeFrom')
    checkKnown(unknown, 'snapshots.resumeFrom')
    stopIfAsked(scope, signal)
    const found = await load(scope, execution)
    if (!found) return undefined
    const events: Event[] = []
    for await (const event of readEvents(scope, { session: found.session, after: found.seq, ...(signal && { signal }) }))
      if (!OWN.includes(event.type)) events.push(event)
    return { snapshot: found, events }
  },
})

const OWN: readonly string[] = Object.keys(snapshot.evolve)

async function save(scope: Scope, execution: string, options: SnapshotOptions): Promise<SnapshotSummary> {
  checkOpen(scope.engine)
  checkKey(execution)
  const { state, step, outputs, variables, user, seq: given, ...unknown } = optionsOf(options, 'snapshots.save')
  checkKnown(unknown, 'a snapshot')
  for (const [name, text] of Object.entries({ step, user }))
    if (text !== undefined && typeof text !== 'string') throw invalidOption(name, 'a text', text)
  const { id: session } = await theSession(scope, execution)
  const seq = given === undefined ? await lastOf(scope, session) : checkSeq(given)
  // The head is read after the last event, which another writer may have appended just now.
  const { seq: head } = await scope.engine.backend.journal.head(scope.tenant)
  if (seq > head) throw refuse('SNAPSHOT_AHEAD', { execution, seq, head })
  const content: Json = {
    state: taken(scope, state),
    ...(outputs !== undefined && { outputs: taken(scope, outputs) }),
    ...(variables !== undefined && { variables: taken(scope, variables) }),
  }
  const at = scope.engine.lane.storeTime()
  return withValue(scope, content, async ({ ref, ...share }) => {
    const saved = { session, execution, seq, at, ...(step !== undefined && { step }), ...(user !== undefined && { user }), ref }
    const command = { verb: 'save', snapshot: saved } as const
    const { row = saved } = await execute(scope, snapshot, idOf(scope, session), command, { session, open: session, ...share })
    return summary(row)
  })
}

const taken = (scope: Scope, value: unknown): Json => telling(scope, () => takeExact(value))

async function load(scope: Scope, execution: string): Promise<ExecutionSnapshot | undefined> {
  const row = await find(scope, execution)
  if (row?.ref === undefined) return undefined
  const content = (await readValue(scope, row.ref)) as Pick<ExecutionSnapshot, 'state' | 'outputs' | 'variables'>
  return { ...summary(row), ...content }
}

async function find(scope: Scope, execution: string): Promise<SnapshotRow | undefined> {
  checkOpen(scope.engine)
  checkKey(execution)
  const session = await sessionNamed(scope, execution)
  return session && (await readRow(scope, 'snapshots', idOf(scope, session.row.id))).body
}

async function lastOf({ engine, tenant }: Scope, session: SessionId): Promise<number> {
  const page = await engine.backend.journal.page(tenant, { from: Number.MAX_SAFE_INTEGER, backwards: true, limit: 1, session })
  return page.events[0]?.seq ?? 0
}

const idOf = (scope: Scope, session: SessionId): Id<'snapshot'> => derivedId(scope, `snapshot/${session}`)

const summary = ({ session, execution, seq, at, step, user }: Omit<SnapshotRow, 'id' | 'ref'>): SnapshotSummary => ({
  session,
  execution,
  seq,
  at,
  ...(step !== undefined && { step }),
  ...(user !== undefined && { user }),
})

/** Removes the snapshot of a session that is being deleted. */
export async function clearSession(scope: Scope, session: SessionId): Promise<void> {
  await execute(scope, snapshot, idOf(scope, session), { verb: 'delete' })
}
