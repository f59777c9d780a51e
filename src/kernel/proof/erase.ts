// Erases payloads. An event records for ever that it happened, why and by whom. The chain still verifies, and the rows are folded again from
// what is left.

import { canonical } from '../../model/canonical.ts'
import { refuse } from '../../model/errors.ts'
import type { EventRecord, Receipt } from '../../model/event.ts'
import type { Id, SessionId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { checkKnown, checkSeq, invalidOption, optionsOf } from '../../model/options.ts'
import { type Body, decodeBody } from '../../model/rows.ts'
import type { Change, Guard } from '../../ports/commit.ts'
import { erasedName } from '../naming/erased-names.ts'
import { scanJournal } from '../reading/read-events.ts'
import { toRanges } from '../reading/seq-ranges.ts'
import { checkOpen, type Scope } from '../wiring/scope.ts'
import { refusalOf } from '../writing/commit-outcome.ts'
import { type AnyDecider, ERASED, keptIn } from '../writing/decider.ts'
import { admitPayload, draftEvent } from '../writing/draft.ts'
import { foldFact, namesOf, rowChanges } from '../writing/fold.ts'
import { retryConflicts } from '../writing/retry-conflicts.ts'
import { deny } from './audit-trail.ts'
import { happened } from './rebuild.ts'

export interface EraseOptions {
  readonly seq: number
  /** The reason is kept for ever: name the request, not the person. */
  readonly reason: string
}

export interface EraseReport {
  /** The number of payloads that were erased now. */
  readonly erased: number
  /** The receipts of the `payload.erased` events. */
  readonly receipts: readonly Receipt[]
}

export async function erase(scope: Scope, options: EraseOptions): Promise<EraseReport> {
  checkOpen(scope.engine)
  const { seq: at, reason: why, ...unknown } = optionsOf(options, 'erase')
  checkKnown(unknown, 'an erasure')
  const [seq, reason] = [checkSeq(at), checkReason(why)]
  const { journal, upkeep } = scope.engine.backend
  const event = seq === 0 ? undefined : (await journal.page(scope.tenant, { from: seq - 1, to: seq, limit: 1 })).events[0]
  if (!event) throw refuse('EVENT_UNKNOWN', { seq, tenant: scope.tenant, head: (await journal.head(scope.tenant)).seq })
  if (event.type === ERASED) throw deny(scope, 'ERASE_REFUSED', { seq, type: event.type })
  const receipts = event.payload === undefined ? [] : [await eraseTogether(scope, event.subject, [event], reason)]
  await upkeep.scrub()
  return { erased: receipts.length, receipts }
}

/** Erases all payloads of a session but those that record its deletion. Works in steps: after a crash, a second call erases the rest. */
export async function eraseSession(scope: Scope, session: SessionId, reason: string, keep: readonly string[]): Promise<EraseReport> {
  const { journal, upkeep } = scope.engine.backend
  const head = await journal.head(scope.tenant)
  const receipts: Receipt[] = []
  let erased = 0
  for await (const records of scanJournal(scope, journal, head.seq, { session })) {
    const left = records.filter((e) => e.payload !== undefined && e.type !== ERASED && !keep.includes(e.type))
    // One authorising event names one subject. The row of that subject is folded again in the same commit.
    for (const [subject, events] of Map.groupBy(left, (e) => e.subject)) {
      receipts.push(await eraseTogether(scope, subject, events, reason))
      erased += events.length
    }
  }
  await upkeep.scrub()
  return { erased, receipts }
}

/** Erases the payloads of the events about one row, or of those that are meant. The caller scrubs the store when it is done with all rows. */
export async function eraseSubject(
  scope: Scope,
  subject: Id,
  reason: string,
  isMeant: (event: EventRecord) => boolean = () => true,
): Promise<number> {
  const { journal } = scope.engine.backend
  const head = await journal.head(scope.tenant)
  let erased = 0
  for await (const records of scanJournal(scope, journal, head.seq, { subject })) {
    const left = records.filter((e) => e.payload !== undefined && e.type !== ERASED && isMeant(e))
    if (left.length > 0) await eraseTogether(scope, subject, left, reason)
    erased += left.length
  }
  return erased
}

export function checkReason(reason: unknown): string {
  if (typeof reason !== 'string' || reason === '' || reason.length > limits.reasonChars) {
    throw invalidOption('reason', `a text of 1 to ${limits.reasonChars} characters`)
  }
  return reason
}

async function eraseTogether(scope: Scope, subject: Id | undefined, events: readonly EventRecord[], reason: string): Promise<Receipt> {
  const seqs = events.map((e) => e.seq)
  const d = events.map((e) => scope.engine.registry.of(e.type)).find((found) => found !== undefined)
  return retryConflicts(scope, d ? [d.table, 'names'] : [], async () => {
    const { guards, changes, kept } = d && subject ? await refold(scope, d, subject, new Set(seqs)) : NO_ROW
    const said = { seqs: toRanges(seqs), reason, ...(d && kept && { kept: { [d.table]: kept } }) }
    const draft = draftEvent(scope, { type: ERASED, subject }, admitPayload(scope, said).payload)
    const outcome = await scope.engine.lane.submit({
      tenant: scope.tenant,
      guards,
      events: [draft],
      changes: [{ kind: 'erase', seqs }, ...changes],
    })
    if (!outcome.ok) throw refusalOf(scope, outcome)
    await scope.engine.features.erased(scope, events)
    return outcome.receipts[0] as Receipt
  })
}

interface Refolded {
  readonly guards: readonly Guard[]
  readonly changes: readonly Change[]
  readonly kept?: Body | undefined
}

const NO_ROW: Refolded = { guards: [], changes: [] }

/** Folds the row of the subject without these payloads. */
async function refold(scope: Scope, d: AnyDecider, subject: Id, gone: ReadonlySet<number>): Promise<Refolded> {
  const { journal, rows } = scope.engine.backend
  const row = await rows.get(scope.tenant, d.table, subject)
  const before = row && decodeBody(row.body, row)
  let body: Body | undefined
  for await (const records of scanJournal(scope, journal, Number.MAX_SAFE_INTEGER, { subject })) {
    for (const e of records) {
      if (e.type === ERASED && body) body = { ...body, ...keptIn(happened(scope, e).data, d.table) }
      if (!scope.engine.registry.of(e.type)) continue
      body = foldFact(d, body, happened(scope, gone.has(e.seq) ? { ...e, payload: undefined } : e), 0).body
    }
  }
  const kept = before && body && (await keptOf(scope, d, subject, before, body))
  if (kept) body = { ...body, ...kept }
  const { changes, taken } = rowChanges(d, subject, before, body, 0)
  const guards: Guard[] = [{ kind: 'row', table: d.table, id: subject, revision: row?.revision ?? 0 }]
  for (const name of taken) guards.push({ kind: 'row', table: 'names', id: name, revision: 0 })
  return { guards, changes, kept }
}

/** The members that an erasure keeps and that the new fold would lose. */
async function keptOf(scope: Scope, d: AnyDecider, subject: Id, before: Body, left: Body): Promise<Body | undefined> {
  if (!d.keeps) return undefined
  const lost = Object.entries(d.keeps(before) as Body).filter(
    ([name, value]) => value !== undefined && canonical(left[name] ?? null) !== canonical(value),
  )
  const names = namesOf(d, left)
  const held: string[] = []
  for (const name of namesOf(d, before).filter((one) => !names.includes(one))) {
    const id = erasedName(scope.engine, name)
    // A name that another row holds stays with that row: nothing must prevent an erasure.
    const other = await scope.engine.backend.rows.get(scope.tenant, 'names', id)
    if (!other || decodeBody(other.body, other).target === subject) held.push(id)
  }
  if (held.length > 0) lost.push(['held', [...((left.held ?? []) as string[]), ...held]])
  return lost.length === 0 ? undefined : Object.fromEntries(lost)
}
