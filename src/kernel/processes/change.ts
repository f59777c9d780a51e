// Changing a process: it is read, what is to happen is decided on what was read, and committed as long as that is still so. What is said of it
// goes into the same commit under the next number, and so does the wake-up it causes.

import { canonical } from '../../model/canonical.ts'
import type { Json } from '../../model/data.ts'
import { InkError, refuse } from '../../model/errors.ts'
import type { SessionId } from '../../model/ids.ts'
import type { ProcessEventRow, ProcessId, ProcessRow } from '../../model/process.ts'
import { decodeBody } from '../../model/rows.ts'
import type { Stored } from '../../model/run.ts'
import { nameId } from '../../model/tables.ts'
import type { Guard } from '../../ports/commit.ts'
import { type DoneRow, NOT_THERE, type Part, part, readRow } from '../execute.ts'
import { retryConflicts } from '../retry-conflicts.ts'
import type { Scope } from '../scope.ts'
import { eventId } from './ids.ts'
import { type ProcessCommand, processDecider } from './process-decider.ts'
import { eventKeyName, processEvent } from './process-event-decider.ts'
import { rememberSession, type WakeOption, waking } from './wake.ts'
import type { WriteAs } from './write-as.ts'

/** An event about to be recorded. */
export interface Saying {
  readonly type: string
  /** As it is looked into; `data` is how it is kept. */
  readonly payload: Json | undefined
  readonly data: Stored
  readonly key?: string | undefined
  readonly wake?: WakeOption | undefined
}

/** What is to happen, as it was decided on the row. */
export interface Deed {
  readonly command?: ProcessCommand
  readonly saying?: Saying
  readonly parts?: readonly Part[]
  readonly guards?: readonly Guard[]
}

export interface Changed {
  readonly row: ProcessRow
  readonly event?: ProcessEventRow & { readonly number: number }
  /** It was so already. */
  readonly repeated: boolean
}

/** `decide` answers with nothing where it is so already, and throws where it cannot be. */
export async function change(
  scope: Scope,
  id: ProcessId,
  hand: WriteAs,
  keyed: Saying | undefined,
  decide: (row: ProcessRow) => Deed | undefined | Promise<Deed | undefined>,
): Promise<Changed> {
  // One after the other within this node, so that they do not fight over numbers.
  const end = await scope.engine.rowMutex.take([`${scope.tenant}/process/${id}`])
  try {
    const mayHelp = (error: unknown) => mayGoBetter(scope, error)
    return await retryConflicts(scope, mayHelp, async (attempt) => {
      const seen = await readRow(scope, 'processes', id)
      const row = seen.body
      if (!row) throw refuse('PROCESS_UNKNOWN', { process: id, tenant: scope.tenant })
      // A repetition is told what it was told before, whatever became of the process.
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
  const parts = [...(command ? [part(processDecider, row.id, command, { seen })] : []), ...(said?.parts ?? []), ...(deed.parts ?? [])]
  const still: Guard = { kind: 'row', table: 'processes', id: row.id, revision: seen.revision }
  const guards = [still, ...(said?.guards ?? []), ...(deed.guards ?? [])]
  const { rows } =
    command?.verb === 'end'
      ? await hand.end(scope, { ...row, state: command.outcome.state }, parts, guards)
      : await hand.write(scope, parts, guards)
  // Ours stand at the end, whatever else was written.
  const left = rows.slice(-parts.length)
  const after = command ? (left[0]?.body as ProcessRow) : row
  if (!said) return { row: after, repeated: false }
  const event = left[command ? 1 : 0]?.body as ProcessEventRow
  return { row: after, event: { ...event, number: said.number }, repeated: false }
}

/** The event's own part comes first. */
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
  let number = (found ? (decodeBody(found.body).number as number) : 0) + 1
  // Those that were erased are in no list, and keep their place.
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
  const stored = named && (await rows.get(scope.tenant, 'process_events', decodeBody(named.body).target))
  if (!stored) return undefined
  const event = decodeBody(stored.body)
  if (event.type !== type || canonical(event.data ?? {}) !== canonical(data))
    throw refuse('KEY_REUSED', { process: id, key, number: event.number, seq: stored.revision })
  return { ...event, number: event.number as number }
}

const OURS: readonly unknown[] = ['processes', 'process_events', 'names', 'leases']

/** Somebody else was first, and what they did may change what is to be done. */
async function mayGoBetter(scope: Scope, error: unknown): Promise<boolean> {
  if (!(error instanceof InkError) || error.code !== 'CONFLICT') return false
  if (error.details.table === 'sessions') {
    await rememberSession(scope, error.details.id as SessionId)
    return true
  }
  return OURS.includes(error.details.table)
}
