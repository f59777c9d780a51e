// Reads events: pages on demand in both directions, and a tail that misses nothing and repeats nothing.

import { refuse } from '../../model/errors.ts'
import { checkActor, type Event, type EventRecord, typePattern } from '../../model/event.ts'
import { optionalId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { checkFlag, checkKnown, checkSeq, expected, filterOf, invalidOption, listOf } from '../../model/options.ts'
import type { EventOf } from '../../model/standard-events.ts'
import type { Timer } from '../../ports/environment.ts'
import type { JournalReads, Page, PageQuery } from '../../ports/journal.ts'
import { NO_SESSION, sessionToRead } from '../session/session-named.ts'
import { checkOpen, type Scope } from '../wiring/scope.ts'
import { telling } from '../writing/draft.ts'
import { checkSignal, leavable, stopIfAsked, tail } from './abortable.ts'
import { decodeEvent } from './decode-event.ts'
import { lineageOf, pageAlong } from './forked-history.ts'

/** `Type` is the types that are asked for: the data of standard ones is known then. */
export interface EventQuery<Type extends string = string> {
  /** Only events of the session with this key or id. */
  readonly session?: string
  /** Only events of the run with this id. */
  readonly run?: string
  /** Only events about the row with this id. */
  readonly subject?: string
  /** Types, or all types under a prefix: `plan.*`. */
  readonly types?: readonly Type[]
  readonly actor?: string
  /** Only events after this seq. */
  readonly after?: number
  /** Only events before this seq. */
  readonly before?: number
  /** Only events from this time on, by the appender's clock. */
  readonly since?: Date | number
  /** Only events before this time, by the appender's clock. */
  readonly until?: Date | number
  /** Reads newest first. */
  readonly backwards?: boolean
  readonly limit?: number
  /** Continues with new events until the signal or the loop ends it. */
  readonly live?: boolean
  readonly signal?: AbortSignal
}

/** Reads one page, for lists. Pass the cursor back to go on. */
export interface EventPage<Type extends string = string> {
  readonly items: readonly EventOf<Type>[]
  readonly cursor?: string
}

/**
 * A waiting tail also ends by `return()`, not only by an event, its signal or the close of the store. Events that `keep` refuses are left
 * out; they count towards the limit.
 */
export function readEvents(
  scope: Scope,
  given?: EventQuery,
  keep?: (record: EventRecord) => boolean,
): AsyncGenerator<Event, void, undefined> {
  const walk = (leaving: AbortSignal) => walkEvents(scope, given, leaving, keep)
  return isLive(given) ? tail(scope, walk) : leavable(walk)
}

/** A query that cannot be read is refused by the walk, as every other one is. */
function isLive(given: EventQuery | undefined): boolean {
  try {
    return Boolean(given?.live)
  } catch {
    return false
  }
}

async function* walkEvents(
  scope: Scope,
  given: EventQuery | undefined,
  leaving: AbortSignal,
  keep: (record: EventRecord) => boolean = () => true,
): AsyncGenerator<Event, void, undefined> {
  const query = filterOf(given, 'events', ['backwards', 'live'])
  const { limit, live, signal } = query
  checkOpen(scope.engine)
  const narrowed = telling(scope, () => narrow(query))
  if (live && query.backwards) throw refuse('RANGE_INVALID', { why: 'live and backwards exclude each other' })
  const bell = live ? new Bell(scope, [signal, leaving, scope.engine.closing]) : undefined
  try {
    let readPage: Awaited<ReturnType<typeof pageReader>>
    let position = narrowed.from
    let given = 0
    while (limit === undefined || given < limit) {
      if (leaving.aborted || asked(scope, query)) return
      // The bell is reset before reading, so that an event that lands during the read rings it again.
      bell?.reset()
      // No session has this key yet. The tail waits where it stands, so that it misses nothing of a session that is created later.
      readPage ??= await pageReader(scope, query.session)
      if (!readPage) {
        if (!bell) return
        await bell.rung()
        continue
      }
      const size = Math.min(limits.pageEvents, limit === undefined ? limits.pageEvents : limit - given)
      const { closedTenants } = scope.engine
      const closed = closedTenants.count
      const page = await readPage({ ...narrowed, from: position, limit: size, bytes: limits.pageBytes })
      let { through, more } = page
      for (const record of page.events) {
        if (keep(record)) yield decodeEvent(scope.tenant, record)
        given++
        if (asked(scope, query)) return
        if (closedTenants.count === closed) continue
        // A tenant was closed since the page was read, perhaps this one, so the rest is read again.
        ;[through, more] = [record.seq, true]
        break
      }
      position = through
      if (more) {
        // Other tasks run between two pages, however fast the reader is.
        await new Promise<void>((resolve) => scope.engine.environment.timer.soon(resolve))
        continue
      }
      const past = query.before !== undefined && position >= query.before - 1
      if (!bell || past || given === limit) return
      await bell.rung()
    }
  } finally {
    bell?.close()
  }
}

export async function pageEvents(scope: Scope, given?: Omit<EventQuery, 'live'> & { readonly cursor?: string }): Promise<EventPage> {
  checkOpen(scope.engine)
  const { cursor, ...query } = filterOf(given, 'page', ['backwards'])
  if ('live' in query)
    throw refuse('OPTION_INVALID', { option: 'live', why: 'a page is not live; use events({ live: true }) to tail the journal' })
  const narrowed = telling(scope, () => narrow(query))
  const from = cursor === undefined ? narrowed.from : cursorSeq(cursor)
  const limit = Math.min(query.limit ?? 100, limits.listRows)
  if (limit < 1) throw refuse('RANGE_INVALID', { why: expected('a limit ≥ 1', limit) })
  const readPage = await pageReader(scope, query.session)
  if (!readPage) return { items: [] }
  const page = await readPage({ ...narrowed, from, limit, bytes: limits.pageBytes })
  return { items: page.events.map((e) => decodeEvent(scope.tenant, e)), ...(page.more && { cursor: String(page.through) }) }
}

/**
 * Reads a page of one session or of all. Of a forked session, the shared events of its parent come first. Undefined while no session has the key.
 */
async function pageReader(scope: Scope, named: string | undefined): Promise<((query: PageQuery) => Promise<Page>) | undefined> {
  const { journal } = scope.engine.backend
  if (named === undefined) return (query) => journal.page(scope.tenant, query)
  const session = await sessionToRead(scope, named)
  if (session === NO_SESSION) return undefined
  const line = await lineageOf(scope, session)
  if (line.length > 1) return (query) => pageAlong(scope, line, query)
  return (query) => journal.page(scope.tenant, { ...query, session })
}

// The number of events that are read and hashed within a slice.
const SCAN_EVENTS = 500

/** Reads the journal from the first event to its present head, in short steps that leave room for other tasks. */
export async function* scanJournal(
  scope: Scope,
  journal: JournalReads,
  to: number,
  narrowed: Pick<PageQuery, 'session' | 'subject' | 'types'> = {},
  after = 0,
): AsyncGenerator<readonly EventRecord[], void, undefined> {
  for (let from = after, more = to > after; more; ) {
    stopIfAsked(scope)
    const page = await journal.page(scope.tenant, { ...narrowed, from, to, limit: SCAN_EVENTS, bytes: limits.sliceBytes })
    if (page.events.length > 0) yield page.events
    from = page.through
    more = page.more
    await new Promise<void>((resolve) => scope.engine.environment.timer.soon(resolve))
  }
}

function narrow(query: EventQuery): Omit<PageQuery, 'limit'> {
  const {
    session: _s,
    run: ofRun,
    subject: about,
    types: named,
    actor,
    after: past = 0,
    before: end,
    since,
    until,
    backwards,
    ...rest
  } = query
  const { limit, live, signal, ...unknown } = rest
  // A misspelt `session` would otherwise return the events of all sessions.
  checkKnown(unknown, 'a query')
  checkFlag('backwards', backwards)
  checkFlag('live', live)
  if (signal !== undefined && typeof signal?.addEventListener !== 'function') throw invalidOption('signal', 'an AbortSignal', signal)
  const types = listOf(named, 'types')
  if (types && types.length > limits.typePatterns)
    throw refuse('RANGE_INVALID', { why: expected(`at most ${limits.typePatterns} types`, types.length) })
  const [run, subject] = [optionalId<'run'>(ofRun), optionalId(about)]
  if (actor !== undefined) checkActor(actor)
  const after = checkSeq(past)
  const before = end === undefined ? undefined : checkSeq(end)
  if (limit !== undefined && (!Number.isSafeInteger(limit) || limit < 0))
    throw refuse('RANGE_INVALID', { why: expected('a limit that is an integer ≥ 0', limit) })
  return {
    from: backwards ? (before ?? Number.MAX_SAFE_INTEGER) : after,
    ...(backwards ? { to: after + 1 } : before !== undefined && { to: before - 1 }),
    ...(backwards && { backwards }),
    ...(run && { run }),
    ...(subject && { subject }),
    ...(actor && { actor }),
    ...(types && { types: types.map(typePattern) }),
    ...(since !== undefined && { since: instant(since) }),
    ...(until !== undefined && { until: instant(until) }),
  }
}

export function instant(time: Date | number): number {
  const ms = typeof time === 'number' ? time : time instanceof Date ? time.getTime() : Number.NaN
  if (!Number.isFinite(ms)) throw refuse('RANGE_INVALID', { why: expected('a Date or Unix milliseconds', time) })
  return ms
}

function cursorSeq(cursor: string): number {
  if (typeof cursor !== 'string' || !/^\d{1,15}$/.test(cursor)) throw refuse('CURSOR_INVALID')
  return Number(cursor)
}

// A tail ends when its signal aborts. Any other read that stops early must not look complete, so it throws.
function asked(scope: Scope, { live, signal }: EventQuery): boolean {
  if (live && (signal?.aborted || scope.engine.closing.aborted)) return true
  stopIfAsked(scope, signal)
  return false
}

/** Rings when the tenant's journal may have grown, when the caller's signal is aborted, and when the store closes. */
export class Bell {
  readonly #stops: (() => void)[] = []
  readonly #timer: Timer
  #ringing = false
  #wake: (() => void) | undefined

  constructor(scope: Scope, ends: readonly (AbortSignal | undefined)[]) {
    for (const end of ends) checkSignal(end)
    this.#timer = scope.engine.environment.timer
    const ring = () => {
      this.#ringing = true
      this.#wake?.()
    }
    this.#stops.push(scope.engine.backend.wakeups.watch(scope.tenant, ring))
    for (const s of ends) {
      s?.addEventListener('abort', ring, { once: true })
      this.#stops.push(() => s?.removeEventListener('abort', ring))
    }
  }

  reset(): void {
    this.#ringing = false
  }

  /** Resolves once it rings, or after this time. */
  async rung(withinMs = Infinity): Promise<void> {
    if (this.#ringing) return
    const rung = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    if (withinMs === Infinity) await rung
    else {
      const over = new AbortController()
      // The timer rejects only when it is cancelled.
      const timer = this.#timer.after(Math.max(1, withinMs), over.signal).catch(() => {})
      await Promise.race([rung, timer])
      over.abort()
    }
    this.#wake = undefined
  }

  close(): void {
    for (const stop of this.#stops) stop()
  }
}
