// Turns the filters of `events` and `tail` into a query, and events into lines.

import type { Event, EventQuery, Store } from '../index.ts'
import { toId } from '../model/ids.ts'
import { type Duration, milliseconds } from '../model/time.ts'
import { usage } from './exit.ts'
import { bytes, shortId, time } from './format.ts'
import { findSession } from './store.ts'
import type { Column } from './table.ts'
import type { Terminal } from './terminal.ts'
import { jsonLine } from './text.ts'

export interface FilterOptions {
  readonly session?: string
  readonly run?: string
  readonly type?: readonly string[]
  readonly actor?: string
  readonly after?: number
  readonly before?: number
  readonly since?: string
  readonly until?: string
  readonly tenant?: string
}

export async function queryOf(store: Store, o: FilterOptions, now: number): Promise<EventQuery> {
  return {
    ...(o.session !== undefined && { session: (await findSession(store, o.session)).id }),
    ...(o.run !== undefined && { run: toId<'run'>(o.run) }),
    ...(o.type && { types: o.type }),
    ...(o.actor !== undefined && { actor: o.actor }),
    ...(o.after !== undefined && { after: o.after }),
    ...(o.before !== undefined && { before: o.before }),
    ...(o.since !== undefined && { since: instant(o.since, now) }),
    ...(o.until !== undefined && { until: instant(o.until, now) }),
  }
}

// Up to this many events are reversed in memory. Beyond it, the first one is searched, and then they are read forwards.
const HELD = 1000

/** Reads the last `limit` matching events, oldest first. */
export async function* lastEvents(store: Store, query: EventQuery, limit: number): AsyncGenerator<Event, void, undefined> {
  const before = Math.min(query.before ?? Number.MAX_SAFE_INTEGER, (await store.head()).seq + 1)
  const held: Event[] = []
  let [found, oldest] = [0, 0]
  for await (const event of store.events({ ...query, before, backwards: true, limit })) {
    found++
    oldest = event.seq
    if (found <= HELD) held.push(event)
    else held.length = 0
  }
  if (found <= HELD) yield* held.reverse()
  else yield* store.events({ ...query, before, after: oldest - 1 })
}

/** Parses a date or an age: `2026-01-31T09:00:00Z`, `15m`. */
export function instant(text: string, now: number): number {
  if (/^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text)) return now - milliseconds(text as Duration)
  const at = /^\d{4}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at)) throw usage(`'${text}' is not a time. Write 2026-01-31T09:00:00Z, 2026-01-31, or an age such as 15m, 2h or 3d.`)
  return at
}

export const eventColumns: readonly Column[] = [
  { title: 'seq', right: true, least: 6, style: 'bold' },
  { title: 'time (UTC)', style: 'dim' },
  { title: 'type', least: 14, most: 28, style: 'cyan' },
  { title: 'session', most: 24 },
  { title: 'actor', most: 16, optional: true },
  { title: 'data' },
]

const ROOM_FOR_YEARS = 100

/** Caches the keys of sessions, so that a tail looks each one up once. */
export class EventLines {
  readonly #store: Store
  readonly #names = new Map<string, string>()
  readonly #time: (ms: number) => string

  constructor(t: Terminal, store: Store) {
    this.#store = store
    // A narrow terminal omits the year.
    this.#time = (t.width ?? Infinity) < ROOM_FOR_YEARS ? (ms) => time(ms).replace(/^\d{4}-/, '') : time
  }

  async cells(e: Event): Promise<readonly string[]> {
    const data = e.erased ? '(erased)' : e.blob ? `(blob of ${bytes(e.blob.bytes)})` : jsonLine(e.data)
    return [String(e.seq), this.#time(e.at), e.type, e.session ? await this.#name(e.session) : '', e.actor ?? '', data]
  }

  async #name(id: string): Promise<string> {
    const known = this.#names.get(id)
    if (known !== undefined) return known
    // A session has its key from the start. One whose key was erased is shown by its id.
    const name = (await this.#store.sessions.get(id))?.key ?? shortId(id)
    this.#names.set(id, name)
    return name
  }
}
