// Pages of the journal. Everything of fixed size comes out of SQLite as one joined blob: reading the columns one by one costs twice
// as much.

import { GENESIS } from '../../model/chain.ts'
import type { EventClass, EventRecord, TypePattern } from '../../model/event.ts'
import { idBytes, readId, type TenantId } from '../../model/ids.ts'
import type { Head, JournalReads, Page, PageQuery } from '../../ports/journal.ts'
import { type Database, type SqlRow, within } from './database.ts'

const headOf = 'select seq, hash from heads where tenant = ?'
const allTenants = 'select tenant from heads order by tenant'

// `held` tells which parts are there; `sound` that each has its size, so that no byte can move from one column to the next.
const joined = `
  seq, at, type, schema, class, actor,
  (session is not null) + 2 * (run is not null) + 4 * (subject is not null) + 8 * (cause is not null) + 16 * (key is not null)
    + 32 * (salt is not null) + 64 * (payload is not null) as held,
  length(id) = 16 and length(digest) = 32 and length(hash) = 32 and coalesce(length(session), 16) = 16 and coalesce(length(run), 16) = 16
    and coalesce(length(subject), 16) = 16 and coalesce(length(cause), 16) = 16 and coalesce(length(key), 16) = 16
    and coalesce(length(salt), 16) = 16 as sound,
  cast(id || digest || hash || coalesce(session, '') || coalesce(run, '') || coalesce(subject, '') || coalesce(cause, '')
    || coalesce(key, '') || coalesce(salt, '') || coalesce(payload, '') as blob) as bytes`

// Rows fetched at a time: few enough that a page of large payloads stays near its bound of bytes.
const ROWS_AT_A_TIME = 128

export function journalReads(db: Database): JournalReads {
  return {
    head: async (tenant) => within(db.path, () => readHead(db, tenant)),
    page: async (tenant, query) => within(db.path, () => readPage(db, tenant, query)),
    tenants: async () => within(db.path, () => db.all(allTenants).map((row) => row.tenant as TenantId)),
  }
}

function readHead(db: Database, tenant: TenantId): Head {
  const row = db.get(headOf, tenant)
  return row ? { seq: row.seq as number, hash: row.hash as Uint8Array } : { seq: 0, hash: GENESIS }
}

function readPage(db: Database, tenant: TenantId, query: PageQuery): Page {
  // Read before the rows: whatever lands in between is only seen early, never missed.
  const head = readHead(db, tenant).seq
  const { backwards, limit, bytes = Infinity } = query
  const [sql, values] = pageStatement(tenant, query)
  const events: EventRecord[] = []
  let from = query.from
  let size = 0
  for (;;) {
    const wanted = Math.min(ROWS_AT_A_TIME, limit - events.length)
    const rows = wanted > 0 ? db.all(sql, from, ...values, wanted) : []
    for (const row of rows) {
      const event = decodeRow(row)
      events.push(event)
      size += event.payload?.length ?? 0
      from = event.seq
      if (size >= bytes) break
    }
    if (rows.length < wanted) break
    if (size >= bytes || events.length >= limit) return { events, through: from, more: true }
  }
  const end = backwards ? Math.max(query.to ?? 1, 1) : Math.max(head, from)
  return { events, through: backwards ? Math.min(from, end) : Math.max(query.from, Math.min(query.to ?? end, end)), more: false }
}

/** The statement for this shape of query; its text, and so its plan, is the same for the same shape. */
function pageStatement(tenant: TenantId, q: PageQuery): readonly [string, (string | number | Uint8Array)[]] {
  const where: string[] = []
  const values: (string | number | Uint8Array)[] = [tenant]
  const also = (condition: string, ...more: (string | number | Uint8Array)[]) => {
    where.push(condition)
    values.push(...more)
  }
  if (q.to !== undefined) also(q.backwards ? 'seq >= ?' : 'seq <= ?', q.to)
  if (q.session) also('session = ?', idBytes(q.session))
  if (q.run) also('run = ?', idBytes(q.run))
  if (q.subject) also('subject = ?', idBytes(q.subject))
  if (q.actor !== undefined) also('actor = ?', q.actor)
  if (q.since !== undefined) also('at >= ?', q.since)
  if (q.until !== undefined) also('at < ?', q.until)
  const narrow = q.session ? 'events_by_session' : q.run ? 'events_by_run' : q.subject ? 'events_by_subject' : undefined
  const only = q.types?.length === 1 && !q.types[0]?.prefix ? q.types[0] : undefined
  if (only) also('type = ?', only.text)
  else if (q.types) also(...typeCondition(q.types))
  const index = narrow ?? (only ? 'events_by_type' : 'events_by_seq')
  const sql = `select ${joined} from events indexed by ${index} where seq ${q.backwards ? '<' : '>'} ? and tenant = ?
    ${where.map((w) => `and ${w}`).join(' ')} order by seq ${q.backwards ? 'desc' : ''} limit ?`
  return [sql, values]
}

function typeCondition(patterns: readonly TypePattern[]): [string, ...(string | number)[]] {
  if (patterns.length === 0) return ['false']
  const parts = patterns.map((p) => (p.prefix ? 'substr(type, 1, ?) = ?' : 'type = ?'))
  const values = patterns.flatMap((p) => (p.prefix ? [p.text.length, p.text] : [p.text]))
  return [`(${parts.join(' or ')})`, ...values]
}

const LAST = 0x40

function decodeRow(row: SqlRow): EventRecord {
  const bytes = row.bytes as Uint8Array
  const held = row.held as number
  let at = 80
  const next = (bit: number): Uint8Array | undefined => {
    if ((held & bit) === 0) return undefined
    at += 16
    return bytes.subarray(at - 16, at)
  }
  const id = <Name extends string>(part: Uint8Array | undefined) => part && readId<Name>(part)
  const session = id<'session'>(next(1))
  const run = id<'run'>(next(2))
  const subject = id(next(4))
  const cause = id<'event'>(next(8))
  const key = next(16)
  const salt = next(32)
  return {
    seq: row.seq as number,
    id: readId<'event'>(bytes),
    at: row.at as number,
    type: row.type as string,
    schema: row.schema as number,
    class: row.class as EventClass,
    actor: row.actor as string,
    session,
    run,
    subject,
    cause,
    key,
    salt,
    payload: (held & LAST) === 0 ? undefined : bytes.subarray(at),
    // A column of the wrong size is damage; an empty digest matches nothing, so verify names the event.
    digest: row.sound ? bytes.subarray(16, 48) : new Uint8Array(0),
    hash: bytes.subarray(48, 80),
  }
}
