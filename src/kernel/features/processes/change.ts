// Changes a process: reads its row, decides, and commits guarded by the revision that was read. The event goes into the same commit under the
// next number, and so does the wake-up that it causes.

import { canonical } from '../../../model/canonical.ts'
import type { Json } from '../../../model/data.ts'
import { InkError, refuse } from '../../../model/errors.ts'
import type { SessionId } from '../../../model/ids.ts'
import type { ProcessEventRow, ProcessId, ProcessRow } from '../../../model/process.ts'
import { decodeBody } from '../../../model/rows.ts'
import type { Stored } from '../../../model/run.ts'
import { nameId } from '../../../model/tables.ts'
import type { Guard } from '../../../ports/commit.ts'
import type { Scope } from '../../wiring/scope.ts'
import { type DoneRow, NOT_THERE, type Part, part, readRow } from '../../writing/part.ts'
import { retryConflicts } from '../../writing/retry-conflicts.ts'
import { eventId } from './ids.ts'
import { type ProcessCommand, processDecider } from './process-decider.ts'
import { eventKeyName, processEvent } from './process-event-decider.ts'
import { rememberSession, type TakenWake, waking } from './wake.ts'
import type { WriteAs } from './write-as.ts'

/** An event that is about to be recorded. */
export interface Saying {
  readonly type: string
  /** The value, for selectors. `data` is the stored form. */
  readonly payload: Json | undefined
  readonly data: Stored
  readonly key?: string | undefined
  readonly wake?: TakenWake | undefined
}

/** The change that was decided on the row. */
export interface Deed {
  readonly command?: ProcessCommand
  readonly saying?: Saying
  readonly parts?: readonly Part[]
  readonly guards?: readonly Guard[]
}

export interface Changed {
  readonly row: ProcessRow
  readonly event?: ProcessEventRow & { readonly number: number }
  /** Nothing was written: the process was in this state already. */
  readonly repeated: boolean
}

/** `decide` returns nothing if there is nothing to change, and throws if the change is not possible. */
export async function change(
  scope: Scope,
  id: ProcessId,
  hand: WriteAs,
  keyed: Saying | undefined,
  decide: (row: ProcessRow) => Deed | undefined | Promise<Deed | undefined>,
): Promise<Changed> {
  // The mutex puts the changes of one process in this node in a row, so that they do not compete for numbers.
  const end = await scope.engine.rowMutex.take([`${scope.tenant}/process/${id}`])
  try {
    const mayHelp = (error: unknown) => mayGoBetter(scope, error)
    return await retryConflicts(scope, mayHelp, async (attempt) => {
      const seen = await readRow(scope, 'processes', id)
      const row = seen.body
      if (!row) throw refuse('PROCESS_UNKNOWN', { process: id, tenant: scope.tenant })
      // A repeated key returns the first event, whatever has happened to the process since.
      const earlier = keyed?.key === undefined ? undefined : await findKeyed(scope, id, keyed)
      if (earlier) return { row, event: earlier, repeated: true }
      const deed = await decide(row)
      if (!deed) return { row, repeated: true }
      return commit(scope, hand, row, seen, deed, attempt > 1)
    })
  } finally {
    end()
  }
}

async function commit(
  scope: Scope,
  hand: WriteAs,
  row: ProcessRow,
  seen: DoneRow<ProcessRow>,
  deed: Deed,
  again: boolean,
): Promise<Changed> {
  const { command, saying } = deed
  const said = saying && (await eventParts(scope, row, saying, again))
  const own = [...(command ? [part(processDecider, row.id, command, { seen })] : []), ...(said?.parts ?? [])]
  // The work of a process that ends is done, so what came out of it is recorded, whatever it looks like.
  const ended = command?.verb === 'end' ? own.map((one) => ({ ...one, outside: true })) : own
  const parts = [...ended, ...(deed.parts ?? [])]
  const still: Guard = { kind: 'row', table: 'processes', id: row.id, revision: seen.revision }
  const guards = [still, ...(said?.guards ?? []), ...(deed.guards ?? [])]
  const { rows } =
    command?.verb === 'end'
      ? await hand.end(scope, { ...row, state: command.outcome.state }, parts, guards)
      : await hand.write(scope, parts, guards)
  // The parts of this change are the last ones of the commit.
  const left = rows.slice(-parts.length)
  const after = command ? (left[0]?.body as ProcessRow) : row
  if (!said) return { row: after, repeated: false }
  const event = left[command ? 1 : 0]?.body as ProcessEventRow
  return { row: after, event: { ...event, number: said.number }, repeated: false }
}

/** The part of the event itself comes first. */
async function eventParts(
  scope: Scope,
  row: ProcessRow,
  { type, payload, data, key, wake }: Saying,
  again: boolean,
): Promise<{ readonly number: number; readonly parts: readonly Part[]; readonly guards: readonly Guard[] }> {
  const number = await nextNumber(scope, row.id, again)
  const woken = await waking(scope, row, { number, type, payload, wake })
  const id = eventId(scope, row.id, number)
  const event = {
    process: row.id,
    number,
    type,
    data,
    ...(key !== undefined && { key }),
    ...(woken && { wake: woken.note }),
    ...(woken?.dedupe !== undefined && { dedupe: woken.dedupe }),
  }
  const record = part(processEvent, id, { verb: 'record', id, event }, { seen: NOT_THERE })
  return { number, parts: [record, ...(woken?.parts ?? [])], guards: woken?.guards ?? [] }
}

async function nextNumber(scope: Scope, id: ProcessId, again: boolean): Promise<number> {
  const { rows } = scope.engine.backend
  const last = await rows.list(scope.tenant, 'process_events', { index: 'byProcess', equals: [id], backwards: true, limit: 1 })
  const [found] = last.rows
  let number = (found ? (decodeBody(found.body, found).number as number) : 0) + 1
  // Erased events are in no index, but their numbers stay taken.
  while (again && (await rows.get(scope.tenant, 'process_events', eventId(scope, id, number)))) number++
  return number
}

async function findKeyed(
  scope: Scope,
  id: ProcessId,
  { key, type, data }: Saying,
): Promise<(ProcessEventRow & { readonly number: number }) | undefined> {
  const { rows } = scope.engine.backend
  const named = await rows.get(scope.tenant, 'names', nameId('process-event', eventKeyName(id, key as string)))
  const stored = named && (await rows.get(scope.tenant, 'process_events', decodeBody(named.body, named).target))
  if (!stored) return undefined
  const event = decodeBody(stored.body, stored)
  if (event.type !== type || canonical(event.data ?? {}) !== canonical(data))
    throw refuse('KEY_REUSED', { process: id, key, number: event.number, seq: stored.revision })
  return { ...event, number: event.number as number }
}

const OURS: readonly unknown[] = ['processes', 'process_events', 'names', 'leases']

/** Whether a retry may help: another writer was first, and its change may lead to another decision. */
async function mayGoBetter(scope: Scope, error: unknown): Promise<boolean> {
  if (!(error instanceof InkError) || error.code !== 'CONFLICT') return false
  if (error.details.table === 'sessions') {
    await rememberSession(scope, error.details.id as SessionId)
    return true
  }
  return OURS.includes(error.details.table)
}
