// The events of a process: recorded under the next number, found by their keys, read in order.

import type { Json } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import { checkType } from '../../../model/event.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, checkSeq, filterOf, optionsOf } from '../../../model/options.ts'
import {
  hasEnded,
  isCoreType,
  type ProcessEventRow,
  type ProcessId,
  type ProcessRow,
  type TerminalSpec,
  type WakeNote,
} from '../../../model/process.ts'
import { decodeBody } from '../../../model/rows.ts'
import { pointed, select, textOf } from '../../../model/selector.ts'
import { load, store } from '../../content/json-or-blob.ts'
import { errorData } from '../../failing/error-data.ts'
import { maskKey } from '../../naming/names.ts'
import { deny } from '../../proof/audit-trail.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { everyPage } from '../../reading/every-row.ts'
import { checkLast, type Page } from '../../reading/list-rows.ts'
import { Bell } from '../../reading/read-events.ts'
import type { Scope } from '../../wiring/scope.ts'
import { checkOpen } from '../../wiring/scope.ts'
import { admit, telling } from '../../writing/draft.ts'
import { type Changed, change, type Saying } from './change.ts'
import { readProcess } from './ids.ts'
import { going, type Outcome } from './process-decider.ts'
import { takeWakeOption, type WakeOption } from './wake.ts'
import type { WriteAs } from './write-as.ts'

export interface ProcessEvent<T = unknown> {
  /** Counted from 1. Only erased events leave gaps. */
  readonly number: number
  readonly type: string
  readonly data: T
  readonly key?: string
  /** The wake-up that the event caused. Absent if its type wakes nobody. */
  readonly wake?: WakeNote
  readonly at: number
}

/** A recorded event, and whether its key was used before. */
export interface ToldEvent<T = unknown> extends ProcessEvent<T> {
  readonly repeated: boolean
}

export interface EventOptions {
  /** Idempotency key: with the same content it returns the same event. Other content is refused. */
  readonly key?: string
  /** `true` always wakes the session, `false` never; a key or an id wakes that session instead. The default is what the type declares. */
  readonly wake?: WakeOption
}

export interface ProcessEventQuery {
  /** Only events with a higher number. */
  readonly after?: number
  readonly type?: string
  /** Only the newest events, this many, oldest first. */
  readonly last?: number
  /** The size of a page. The default is 100. */
  readonly limit?: number
  readonly cursor?: string
}

export async function sayEvent(
  scope: Scope,
  id: ProcessId,
  hand: WriteAs,
  type: string,
  data: unknown,
  options: EventOptions | undefined,
): Promise<Changed> {
  checkOpen(scope.engine)
  const { key, wake, ...unknown } = optionsOf(options, 'event')
  checkKnown(unknown, 'an event')
  telling(scope, () => checkType(type))
  if (isCoreType(type)) throw deny(scope, 'TYPE_RESERVED', { type })
  const payload = data === undefined ? undefined : admit(scope, data, `an event '${type}' of a process`)
  const saying: Saying = {
    type,
    payload,
    data: await store(scope, payload, { of: 'the event' }, true),
    ...(key !== undefined && { key: maskKey(scope, key) }),
    wake: await takeWakeOption(scope, wake),
  }
  return change(scope, id, hand, saying, async (row) => {
    going(row, id)
    const terminal = checkDeclared(row, saying)
    if (!terminal) return { saying }
    return { saying, command: { verb: 'end', id, outcome: await outcomeOf(scope, terminal, payload) } }
  })
}

function checkDeclared({ id, name, events }: ProcessRow, { type, payload, key }: Saying): TerminalSpec | undefined {
  if (!events) return undefined
  const declared = Object.hasOwn(events, type) ? events[type] : undefined
  if (!declared) throw refuse('PROCESS_EVENT_UNDECLARED', { process: id, name, type, declared: Object.keys(events) })
  const missing = declared.needs?.find((pointer) => pointed(payload, pointer) === undefined)
  if (missing !== undefined) throw refuse('PROCESS_EVENT_INCOMPLETE', { process: id, name, type, missing })
  // A caller that does not know whether its first attempt was saved must be able to retry.
  if (declared.terminal && key === undefined)
    throw refuse('OPTION_INVALID', { option: 'key', why: `the event ${type} ends the process, so it needs a key that makes a retry safe` })
  return declared.terminal
}

async function outcomeOf(scope: Scope, { state, output }: TerminalSpec, payload: Json | undefined): Promise<Outcome> {
  const selected = select(output ?? { payload: true }, payload)
  switch (state) {
    case 'completed':
      return { state, value: await store(scope, selected, { of: 'the value' }, true) }
    case 'failed':
      return { state, error: errorData(scope, selected) }
    case 'cancelled':
      return { state, reason: textOf(selected).slice(0, limits.reasonChars) }
  }
}

export async function shown(scope: Scope, { number, type, data, key, wake, at }: ProcessEventRow): Promise<ProcessEvent> {
  return {
    number: number as number,
    type: type as string,
    data: await load(scope, data),
    ...(key !== undefined && { key }),
    ...(wake && { wake }),
    at,
  }
}

const PAGE = 100

export async function listEvents(scope: Scope, id: ProcessId, query: ProcessEventQuery | undefined): Promise<Page<ProcessEvent>> {
  await there(scope, id)
  const { after = 0, type, last, limit = last ?? PAGE, cursor } = takeQuery(scope, query)
  const page = await scope.engine.backend.rows.list(scope.tenant, 'process_events', {
    ...indexOf(id, type),
    from: after + 1,
    limit,
    ...(last !== undefined && { backwards: true }),
    ...(cursor !== undefined && { cursor }),
  })
  const rows = page.rows.map((row) => decodeBody(row.body, row))
  if (last !== undefined) rows.reverse()
  return {
    items: await Promise.all(rows.map((row) => shown(scope, row))),
    ...(page.cursor !== undefined && last === undefined && { cursor: page.cursor }),
  }
}

/** Counts the events of all types or of one, up to a number or all. */
export async function countEvents(
  scope: Scope,
  id: ProcessId,
  query: { readonly type?: string; readonly after?: number; readonly through?: number } = {},
): Promise<number> {
  await there(scope, id)
  const { through, type: given, after: beyond, ...unknown } = filterOf(query, 'process.count')
  checkKnown(unknown, 'a count')
  const { type, after = 0 } = takeQuery(scope, {
    ...(given !== undefined && { type: given }),
    ...(beyond !== undefined && { after: beyond }),
  })
  const below = through === undefined ? undefined : checkSeq(through) + 1
  let count = 0
  const range = { ...indexOf(id, type), from: after + 1, ...(below !== undefined && { below }), limit: limits.listRows }
  for await (const rows of everyPage(scope, 'process_events', range)) count += rows.length
  return count
}

/** Waits for the first event after a number. Returns undefined if the process has ended without one. */
export async function nextEvent(
  scope: Scope,
  id: ProcessId,
  query: Pick<ProcessEventQuery, 'after' | 'type'> & { readonly signal?: AbortSignal } = {},
): Promise<ProcessEvent | undefined> {
  const { signal, type: given, after: beyond, ...unknown } = filterOf(query, 'process.nextEvent')
  checkKnown(unknown, 'a wait')
  const { type, after = 0 } = takeQuery(scope, {
    ...(given !== undefined && { type: given }),
    ...(beyond !== undefined && { after: beyond }),
  })
  const bell = new Bell(scope, [signal, scope.engine.closing])
  try {
    for (;;) {
      bell.reset()
      stopIfAsked(scope, signal)
      // The process is read first: all its events were recorded before it ended.
      const { state } = await there(scope, id)
      const [found] = (await listEvents(scope, id, { after, limit: 1, ...(type !== undefined && { type }) })).items
      if (found || hasEnded(state)) return found
      await bell.rung()
    }
  } finally {
    bell.close()
  }
}

const indexOf = (id: ProcessId, type: string | undefined) =>
  type === undefined ? ({ index: 'byProcess', equals: [id] } as const) : ({ index: 'byType', equals: [id, type] } as const)

function takeQuery(scope: Scope, given: ProcessEventQuery | undefined): ProcessEventQuery {
  const { after, type, last, limit, cursor, ...unknown } = filterOf(given, 'process.events')
  checkKnown(unknown, 'a list of events')
  if (after !== undefined) checkSeq(after)
  if (type !== undefined) telling(scope, () => checkType(type))
  for (const count of [last, limit]) if (count !== undefined) checkLast(count, 'events')
  return {
    ...(after !== undefined && { after }),
    ...(type !== undefined && { type }),
    ...(last !== undefined && { last }),
    ...(limit !== undefined && { limit }),
    ...(cursor !== undefined && { cursor }),
  }
}

async function there(scope: Scope, id: ProcessId): Promise<ProcessRow> {
  checkOpen(scope.engine)
  const row = await readProcess(scope, id)
  if (!row) throw refuse('PROCESS_UNKNOWN', { process: id, tenant: scope.tenant })
  return row
}
