// Appends plain events, one or many in one commit. A plain append changes no row. It is guarded by the session being open.

import type { BlobRef } from '../../model/blob.ts'
import type { Json } from '../../model/data.ts'
import { refuse } from '../../model/errors.ts'
import { checkType, DURABLE, type EventDraft, IN_BLOB, INLINE, type Receipt, TRANSIENT } from '../../model/event.ts'
import { type EventId, optionalId, type RunId, type SessionId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { checkKnown, checkSeq, invalidOption, optionsOf, ownMembers } from '../../model/options.ts'
import type { Guard } from '../../ports/commit.ts'
import { putFreshAgain } from '../content/blobs.ts'
import { absentOf } from '../content/doubtful.ts'
import { absentAfter, foundIn, type Referring, referring, withKept } from '../content/found-in-events.ts'
import { mayUseBlob, moveToBlob } from '../content/large-data.ts'
import { eventGuards, toReferences } from '../content/references.ts'
import type { Fenced } from '../fenced.ts'
import { WriteTime } from '../measuring/write-time.ts'
import { callerIdentity, findWritten, ID_SCOPE } from '../naming/chosen-ids.ts'
import { deny } from '../proof/audit-trail.ts'
import { keyScope } from '../reading/find-event.ts'
import { checkWritten } from '../reading/forked-history.ts'
import { checkOpenRun } from '../session/open-run.ts'
import { withSessionIds } from '../session/session-named.ts'
import { checkOpen, type Scope } from '../wiring/scope.ts'
import { appendBody } from './append-body.ts'
import { refusalOf } from './commit-outcome.ts'
import { admitPayload, commitKey, draftEvent, isWhole, knownPayload, telling } from './draft.ts'
import { fenceOf, writeUnder } from './fence.ts'
import { Patience, pause } from './retry-conflicts.ts'
import { lookAgain, openGuard, stillOpen } from './session-guard.ts'

export interface AppendOptions {
  /** The last seq of the session that the caller knows. The append is refused with HEAD_MOVED if another writer wrote since. */
  readonly after?: number
  /** Idempotency key: the same key with the same body is written once and returns the same receipt. */
  readonly key?: string
  /** The id of the event that caused this one. */
  readonly cause?: string
  /** The id of a run of the session that has not ended. */
  readonly run?: string
  /** Marks the event as one that retention may erase. */
  readonly transient?: boolean
  /**
   * A claim, a run or a session lease. The append is refused with FENCE_LOST once a newer holder exists, and with CLAIM_SETTLED once the
   * handle is settled or released. With a run, the event names the run; it is not on the run's tape.
   */
  readonly under?: Fenced
  /** `false` stores the data without masking secrets. */
  readonly redact?: boolean
  /**
   * The id of the event, a ULID. It is an idempotency key for ever: the same id with the same body is written once and returns the same
   * receipt, and with another body it is refused with ID_REUSED. Not together with `key`.
   */
  readonly id?: string
  /** `'blob'` stores data beyond `payloadBytes` in a blob, whose reference is the `blob` of the event. Otherwise it is DATA_TOO_LARGE. */
  readonly large?: 'blob'
  /** The time of the event, at most five minutes ahead of the store's clock. The default is the node's clock. */
  readonly at?: Date | number
  /** Values and blobs that the event refers to, for garbage collection. References to blobs in the data are found by themselves. */
  readonly refs?: readonly (string | BlobRef)[]
}

export interface NewEvent {
  /** The key or the id of the session. */
  readonly session?: string
  readonly type: string
  readonly data: unknown
  readonly cause?: string
  readonly run?: string
  readonly transient?: boolean
  /** `false` stores the data without masking secrets. */
  readonly redact?: boolean
  /** Values and blobs that the event refers to, for garbage collection. */
  readonly refs?: readonly (string | BlobRef)[]
}

export function append(scope: Scope, session: SessionId, type: string, data: unknown, options?: AppendOptions): Promise<Receipt> {
  if (options === undefined)
    return commitEvents(scope, [{ session, type, data, run: undefined, cause: undefined, transient: undefined }], firstOf, PLAIN)
  return appendWith(scope, session, type, data, options)
}

async function appendWith(scope: Scope, session: SessionId, type: string, data: unknown, options: AppendOptions): Promise<Receipt> {
  const { after, key, run, cause, transient, under, redact, id, at, large, refs: given, ...unknown } = optionsOf(options, 'append')
  checkKnown(unknown, 'an append')
  const time = new WriteTime(scope.engine.environment.clock)
  const whole = isWhole(redact)
  const refs = toReferences(given)
  if (id !== undefined && key !== undefined)
    throw refuse('OPTION_INVALID', { option: 'id', why: 'an id is an idempotency key; pass id or key, not both' })
  const chosen = telling(scope, () => callerIdentity(scope, id, at))
  const fence = under === undefined ? undefined : fenceOf(scope, session, under)
  if (fence?.run && run !== undefined && run !== fence.run.id)
    throw refuse('OPTION_INVALID', { option: 'run', why: 'under is another run' })
  // The head only grows: a seq beyond it cannot have been seen by any reader.
  if (after !== undefined) await checkWritten(scope, checkSeq(after))
  const guards: Guard[] = after === undefined ? [] : [{ kind: 'quiet', session, after }]
  if (fence) guards.unshift(fence.guard)
  const chosenRun = fence?.run?.id ?? run
  const event = { session, type, data, run: chosenRun, cause, transient, whole, large: mayUseBlob(large), refs, ...chosen }
  const keyed = chosen.id ? { key: chosen.id, within: ID_SCOPE } : { key, within: keyScope(session) }
  const write = commitEvents(scope, [event], firstOf, { ...keyed, guards, timed: at !== undefined, time })
  return fence ? writeUnder(fence, write) : write
}

/** Appends an event of a run, guarded by the lease of the run. `reserved` allows types that belong to the kernel. */
export const appendGuarded = (scope: Scope, event: GuardedEvent, options: CommitOptions): Promise<Receipt> =>
  commitEvents(scope, [event], firstOf, options)

export type GuardedEvent = Plain & Pick<Given, 'at' | 'whole' | 'mark'>

const MEMBERS: readonly string[] = ['session', 'type', 'data', 'run', 'cause', 'transient'] satisfies readonly (keyof Plain)[]

export async function appendAll(scope: Scope, given: readonly NewEvent[], key?: string): Promise<readonly Receipt[]> {
  const time = new WriteTime(scope.engine.environment.clock)
  if (!Array.isArray(given) || given.length === 0) throw refuse('COMMIT_EMPTY')
  const found = given.length
  if (found > limits.commitEvents) throw refuse('COMMIT_TOO_LARGE', { limit: limits.commitEvents, unit: 'events', found })
  // Every member is read once, so that the checked value is the written one.
  const members = Array.from(given, (event) => (event === undefined ? event : takeMembers(event)))
  const own = await withSessionIds(scope, members)
  return commitEvents(scope, own as readonly Given[], allOf, { key, within: keyScope(undefined), time })
}

function takeMembers(event: NewEvent): Given {
  const { redact, refs, ...rest } = optionsOf(event, 'event')
  for (const option of Object.keys(rest))
    if (!MEMBERS.includes(option)) throw refuse('OPTION_INVALID', { option, why: 'an event has no such member' })
  return ownMembers<Given>({ ...(rest as Loose<Plain>), whole: isWhole(redact), refs: toReferences(refs) })
}

const firstOf = (receipts: readonly Receipt[]): Receipt => receipts[0] as Receipt
const allOf = (receipts: readonly Receipt[]): readonly Receipt[] => receipts

/** `answer` picks the result here and not in another promise, because this is the hot path of every append. */
async function commitEvents<Answer>(
  scope: Scope,
  list: readonly Given[],
  answer: (receipts: readonly Receipt[]) => Answer,
  options: CommitOptions,
): Promise<Answer> {
  const { key: keyText, within = '', guards: also = [], reserved = false, timed = false, time: begun, absent: known } = options
  const { engine, tenant } = scope
  checkOpen(engine)
  // The lane refuses before the work of masking and hashing, not after it.
  engine.lane.checkDoor()
  begun?.waited()
  const time = begun ?? new WriteTime(engine.environment.clock)
  const given = takeAll(scope, list, reserved)
  time.masked()
  const large = given.some(isLarge)
  const { places, doubtful } = foundIn(given)
  // A commit without the references that name nothing is another event, so a retry must not find out by a refusal.
  const isRetried = keyText !== undefined || list.some(({ id }) => id !== undefined)
  const absent = known ?? (isRetried && doubtful.length > 0 ? await absentOf(scope, doubtful) : NOTHING)
  const kept = places.size > 0 ? given.map((event) => withKept(event, absent)) : given
  const taken = large ? await Promise.all(kept.map((event) => moveToBlob(scope, event, absent))) : kept
  if (large) time.stored()
  const key = keyText === undefined ? undefined : commitKey(scope, within, keyText, taken.map(appendBody))
  const events: EventDraft[] = []
  const sessions: SessionId[] = []
  for (const { type, session, run, cause, transient, payload, large, id, at, mark, refs } of taken) {
    const form = { schema: large ? IN_BLOB : INLINE, class: transient ? TRANSIENT : DURABLE } as const
    const draft = { id, type, ...form, session, run, cause, key: key?.digest ?? mark, at, refs }
    events.push(draftEvent(scope, draft, payload))
    if (session !== undefined && !sessions.includes(session)) sessions.push(session)
  }
  time.hashed()
  // The receipt of the first append is swept after a while. The journal knows the id for ever.
  const chosen = taken[0]?.id !== undefined
  const findFirst = () => findWritten(scope, events[0] as EventDraft, timed)
  const written = chosen && (await findFirst())
  if (written) return answer([written])
  // A run marks its own events, under its lease. Other callers may name a run of the session that has not ended.
  for (const { run, session, mark } of taken)
    if (run !== undefined && mark === undefined && !reserved) await checkOpenRun(scope, run, session)

  const patience = new Patience(scope)
  for (let attempt = 1; ; attempt++) {
    const guards: Guard[] = []
    // A reserved event ends something that a run has begun. The guards of the run decide whether it still may.
    for (const id of reserved ? [] : sessions) {
      const seen = engine.sessions.get(tenant, id)
      guards.push(seen?.state === 'open' ? stillOpen(id, seen.revision) : await openGuard(scope, id, key !== undefined))
    }
    guards.push(...also, ...eventGuards(events, absent, places))
    const outcome = await engine.lane.submit(
      key ? { tenant, key, guards, events, changes: [] } : { tenant, guards, events, changes: [] },
      time,
    )
    if (outcome.ok) return answer(outcome.receipts)
    if (!patience.isOver(attempt) && (await putFreshAgain(scope, outcome))) continue
    const gone = await absentAfter(scope, doubtful, outcome)
    if (gone) return commitEvents(scope, list, answer, { ...options, absent: new Set([...absent, ...gone]) })
    const { refused } = outcome
    // The id was written since it was looked for. A retry without a time of its own differs from it in its time alone.
    const since = chosen && refused === 'key' && (await findFirst())
    if (since) return answer([since])
    if (typeof refused !== 'object' || refused.kind !== 'row' || also.includes(refused)) throw refusalOf(scope, outcome)
    // The session has changed since this node last read it.
    await lookAgain(scope, refused.id as SessionId)
    if (patience.isOver(attempt)) throw refuse('CONFLICT', { table: 'sessions', id: refused.id, tries: attempt })
    if (attempt > 1) await pause(scope, attempt)
  }
}

const NOTHING: ReadonlySet<string> = new Set()

interface CommitOptions {
  readonly key?: string | undefined
  readonly within?: string
  readonly guards?: readonly Guard[]
  /** Allows types that belong to the kernel. */
  readonly reserved?: boolean
  /** A retry of an event with an id of the caller's must have the same time: the caller gave that too. */
  readonly timed?: boolean
  /** Began with the call. The default begins here. */
  readonly time?: WriteTime | undefined
  /** References in errors and in data from outside that name nothing, as an earlier attempt found out. */
  readonly absent?: ReadonlySet<string>
}

const PLAIN: CommitOptions = {}

type Plain = Omit<NewEvent, 'redact' | 'refs'>

interface Given extends Loose<Plain> {
  /** The id of the event. The default is a new one. */
  readonly id?: EventId | undefined
  /** The time of the event. The default is the clock's. */
  readonly at?: number | undefined
  /** Stores the data as it is: nothing is masked. */
  readonly whole?: boolean | undefined
  /** Stores data that is too large for an event in a blob. */
  readonly large?: boolean | undefined
  /** References to values and blobs. */
  readonly refs?: readonly string[] | undefined
  /** A mark in the header, by which a run finds its own events. It makes no receipt. */
  readonly mark?: Uint8Array | undefined
}

type Loose<T> = { readonly [K in keyof T]: T[K] | undefined }

interface Taken extends Omit<Given, 'type' | 'data' | 'whole' | 'large'>, Referring {
  readonly session: SessionId | undefined
  readonly run: RunId | undefined
  readonly cause: EventId | undefined
  readonly type: string
  readonly data: Json
  readonly payload: string
  /** The data is too large for the event. */
  readonly large?: boolean
}

const isLarge = ({ large }: Taken): boolean => large === true

function takeAll(scope: Scope, list: readonly Given[], reserved: boolean): readonly Taken[] {
  const taken: Taken[] = []
  let size = 0
  // The list is read by index, so that a hole is refused like undefined.
  for (let i = 0; i < list.length; i++) {
    const event = takeNew(scope, list[i], reserved)
    taken.push(event)
    size += event.payload.length
    if (i > 0 && size > limits.commitBytes)
      throw refuse('COMMIT_TOO_LARGE', { limit: limits.commitBytes, unit: 'bytes', found: `more than ${size}` })
  }
  return taken
}

/** Checks an event as an append would, and writes nothing. */
export const checkNew = (scope: Scope, type: string, data: unknown): void => void takeNew(scope, { type, data }, false)

/** Reads every member once, so that the checked value is the written one. */
function takeNew(scope: Scope, given: Given | undefined, reserved: boolean): Taken {
  if (typeof given !== 'object' || given === null) throw invalidOption('events', 'objects with type and data', given)
  const { type, session, run, cause, transient, data, id, at, whole, large, mark, refs } = ownMembers(given)
  const ids = telling(scope, () => {
    checkType(type)
    if (!reserved && scope.engine.registry.isReserved(type)) throw deny(scope, 'TYPE_RESERVED', { type })
    if (transient !== undefined && typeof transient !== 'boolean') throw invalidOption('transient', 'true or false', transient)
    return { session: optionalId<'session'>(session), run: optionalId<'run'>(run), cause: optionalId<'event'>(cause) }
  })
  // Data that the kernel made from masked values is not masked again.
  const admitted = whole && reserved ? knownPayload(scope, data as Json) : admitPayload(scope, data, { whole, large })
  // Garbage collection keeps values that an application names, so they are declared like those that it declares itself.
  return {
    type: type as string,
    session: ids.session,
    run: ids.run,
    cause: ids.cause,
    transient,
    id,
    at,
    mark,
    // Reserved events record what came out of the work of a run.
    ...referring(admitted.payload, refs, reserved),
    ...admitted,
  }
}
