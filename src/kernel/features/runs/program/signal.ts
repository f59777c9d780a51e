// Signals: sent to a session, and taken in order by the runs that wait for them. An early signal waits.

import type { Json } from '../../../../model/data.ts'
import { InkError } from '../../../../model/errors.ts'
import type { Receipt } from '../../../../model/event.ts'
import type { Id, RunId, SessionId } from '../../../../model/ids.ts'
import { checkKnown, optionsOf } from '../../../../model/options.ts'
import { decodeBody } from '../../../../model/rows.ts'
import type { Guard } from '../../../../ports/commit.ts'
import { store } from '../../../content/json-or-blob.ts'
import { WriteTime } from '../../../measuring/write-time.ts'
import { takeName, workId } from '../../../naming/names.ts'
import { everyRow } from '../../../reading/every-row.ts'
import { checkOpen, type Scope } from '../../../wiring/scope.ts'
import { type Part, type PlanOptions, part, plan } from '../../../writing/execute.ts'
import { retryConflicts } from '../../../writing/retry-conflicts.ts'
import { theSession } from '../../sessions/find-session.ts'
import { work } from '../../work/work-decider.ts'
import { signal } from '../signal-decider.ts'
import type { RunWriter } from '../writing/run-writer.ts'
import type { Ended } from './wait.ts'

/** The oldest signal of this name that no run has taken. */
export async function pendingSignal(open: RunWriter, name: string, late: boolean): Promise<Ended | undefined> {
  const { scope, row } = open
  const { rows } = await scope.engine.backend.rows.list(scope.tenant, 'signals', {
    index: 'bySession',
    equals: [row.session, name, 'pending'],
    limit: 1,
  })
  const [found] = rows
  if (!found) return late ? { outcome: { expired: true } } : undefined
  const { data } = decodeBody(found.body, found)
  const take = part(signal, found.id as Id, { verb: 'take', id: found.id }, { session: row.session, run: open.id })
  return { outcome: { signal: found.id, value: data }, parts: [take] }
}

export interface SendOptions {
  /** Idempotency key: the same key with the same data is sent once. */
  readonly key?: string
}

/** `to` is the key or id of a session. */
export async function sendSignal(scope: Scope, to: string, name: string, data: unknown, options?: SendOptions): Promise<Receipt> {
  checkOpen(scope.engine)
  const { key, ...unknown } = optionsOf(options, 'signal')
  checkKnown(unknown, 'a signal')
  const taken = takeName(scope, name, 'a signal')
  const session = await theSession(scope, to)
  const time = new WriteTime(scope.engine.environment.clock)
  const value = await store(scope, data, { of: `the signal '${taken}'` }, false, time)
  const id = scope.engine.newId<'signal'>()
  const send = part(signal, id, { verb: 'send', session: session.id, name: taken, data: value as Json }, { session: session.id })
  const keyed = key !== undefined && { key, within: `signal/${session.id}/${taken}`, body: value }
  const { receipts, woken } = await sendAndWake(scope, session.id, taken, send, { open: session.id, ...keyed, time })
  // A run that began to wait between the look and the commit has seen the signal, or is found now. So are runs beyond the first thousand.
  for (const run of await waitingFor(scope, session.id, taken)) {
    if (!woken.has(run)) await plan(scope, [wakePart(scope, run, session.id)])
  }
  return receipts[0] as Receipt
}

/**
 * Sends the signal and wakes the runs that wait for it in one commit. An event in the session between the look and the commit may be a run
 * that began to wait, so the look is retried. In a session that is never quiet, the caller wakes such runs afterwards.
 */
async function sendAndWake(
  scope: Scope,
  session: SessionId,
  name: string,
  send: Part,
  options: PlanOptions,
): Promise<{ readonly receipts: readonly Receipt[]; readonly woken: ReadonlySet<RunId> }> {
  const moved = (error: unknown) => error instanceof InkError && error.code === 'HEAD_MOVED'
  return retryConflicts(scope, moved, async (attempt) => {
    const { seq } = await scope.engine.backend.journal.head(scope.tenant)
    const woken = new Set((await waitingFor(scope, session, name)).slice(0, AT_ONCE))
    const guards: readonly Guard[] = attempt < TRIES ? [{ kind: 'quiet', session, after: seq }] : []
    const { receipts } = await plan(scope, [send, ...[...woken].map((run) => wakePart(scope, run, session))], { ...options, guards })
    return { receipts, woken }
  })
}

const TRIES = 5

// The number of runs that the commit of the signal wakes, longest waits first.
const AT_ONCE = 1000
const PAGE = 256

async function waitingFor(scope: Scope, session: SessionId, name: string): Promise<readonly RunId[]> {
  const found: RunId[] = []
  const waiting = { index: 'bySessionAndState', equals: [session, 'waiting'], limit: PAGE }
  for await (const { body } of everyRow(scope, 'runs', waiting)) {
    const { id, waits } = decodeBody(body)
    if (waits.some((wait) => wait.kind === 'signal' && wait.name === name)) found.push(id)
  }
  return found
}

/** Wakes a run: a node takes a parked run up, and the holder of a held run looks again. */
export function wakePart(scope: Scope, run: RunId, session?: SessionId): Part {
  return part(work, workId(scope, run), { verb: 'wake' }, { run, ...(session && { session }) })
}
