// Wakes a session: the wake-up goes to its inbox, in the commit that records the event. If there is nobody to wake, the event says so.

import type { Json } from '../../../model/data.ts'
import { InkError } from '../../../model/errors.ts'
import type { SessionId } from '../../../model/ids.ts'
import { CORE_TYPES, ENDINGS, type ProcessRow, type WakeNote, type WakeSpec } from '../../../model/process.ts'
import { isTruthy, pointed, select, textOf } from '../../../model/selector.ts'
import { nameId } from '../../../model/tables.ts'
import type { Guard } from '../../../ports/commit.ts'
import { store } from '../../content/json-or-blob.ts'
import { sessionToWrite } from '../../session/session-named.ts'
import type { Scope } from '../../wiring/scope.ts'
import { NOT_THERE, type Part } from '../../writing/execute.ts'
import { lookAgain, openGuard } from '../../writing/session-guard.ts'
import { offerInboxPart } from '../inputs/offer-inbox-item.ts'
import { wakeId } from './ids.ts'

/** Whether an event wakes: as its type declares, always, never, or the session with this key or id. */
export type WakeOption = boolean | string
export type TakenWake = boolean | SessionId

export async function takeWakeOption(scope: Scope, given: WakeOption | undefined): Promise<TakenWake | undefined> {
  return given === undefined || typeof given === 'boolean' ? given : sessionToWrite(scope, given)
}

export interface Said {
  readonly number: number
  readonly type: string
  readonly payload: Json | undefined
  readonly wake?: TakenWake | undefined
}

export interface Waking {
  readonly note: WakeNote
  readonly dedupe?: string
  readonly parts: readonly Part[]
  /** The guard that the session is still open. */
  readonly guards: readonly Guard[]
}

// Wake-ups that are neighbours in the inbox may come together.
const MERGE = 'process'

/** Returns undefined if this event wakes nobody. */
export async function waking(scope: Scope, row: ProcessRow, said: Said): Promise<Waking | undefined> {
  const spec = specOf(row, said)
  if (!spec) return undefined
  const session = typeof said.wake === 'string' ? said.wake : row.wake
  const silent = (note: Omit<WakeNote, 'offered'>): Waking => ({ note: { offered: false, ...note }, parts: [], guards: [] })
  if (session === undefined) return row.wakeWas ? silent({ session: row.wakeWas, why: 'deleted' }) : silent({ why: 'nobody' })
  const dedupe = spec.dedupe && textOf(select(spec.dedupe, said.payload))
  const id = wakeId(scope, session, row.id, dedupe === undefined ? `event/${said.number}` : `text/${dedupe}`)
  const gone = await goneOf(scope, session)
  if (typeof gone === 'string') return silent({ session, id, why: gone })
  if (dedupe !== undefined && (await scope.engine.backend.rows.get(scope.tenant, 'names', nameId('process-wake', id))))
    return silent({ session, id, why: 'repeated' })
  const input = select(spec.input ?? { payload: true }, said.payload)
  const told = { process: row.name, id: row.id, number: said.number, type: said.type, input }
  const payload = await store(scope, told, { of: 'the wake-up' }, true)
  const key = `process/${row.id}/event/${said.number}`
  const offered = { session, key, payload, delivery: spec.delivery ?? 'boundary', kind: 'turn', merge: MERGE } as const
  return {
    note: { offered: true, session, id },
    ...(dedupe !== undefined && { dedupe }),
    parts: [offerInboxPart(scope, offered, { seen: NOT_THERE })],
    guards: [gone],
  }
}

function specOf({ events, wake: target, wakeWas }: ProcessRow, { type, payload, wake }: Said): WakeSpec | undefined {
  if (wake === false) return undefined
  const declared = events?.[type]
  if (wake !== undefined) return declared?.wake || {}
  if (declared?.wake) {
    const { when } = declared.wake
    return when === undefined || isTruthy(pointed(payload, when)) ? declared.wake : undefined
  }
  // The end wakes the session, unless its type declares otherwise.
  const ends = declared?.terminal !== undefined || ENDINGS.some((state) => CORE_TYPES[state] === type)
  return ends && (target ?? wakeWas) !== undefined && declared?.wake !== false ? {} : undefined
}

const WHY = { SESSION_UNKNOWN: 'unknown', SESSION_ARCHIVED: 'archived', SESSION_DELETED: 'deleted' } as const

/** The guard that the session is open, or the state of a session that is not. */
async function goneOf(scope: Scope, session: SessionId): Promise<Guard | NonNullable<WakeNote['why']>> {
  try {
    return await openGuard(scope, session)
  } catch (error) {
    const why = error instanceof InkError ? WHY[error.code as keyof typeof WHY] : undefined
    if (why === undefined) throw error
    return why
  }
}

/** Reads a session whose remembered state was wrong, so that the next attempt sees it as it is. */
export async function rememberSession(scope: Scope, session: SessionId): Promise<void> {
  try {
    await lookAgain(scope, session)
  } catch (error) {
    if (!(error instanceof InkError && error.code in WHY)) throw error
  }
}
