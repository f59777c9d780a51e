// Pages of the journal. All columns of fixed size are read as one joined blob: reading them one by one costs twice as much.

import type { EventClass, EventRecord, TypePattern } from '../../model/event.ts'
import { idBytes, readId, type TenantId } from '../../model/ids.ts'
import { checkActive } from '../../model/tenant.ts'
import type { JournalReads, Page, PageQuery } from '../../ports/journal.ts'
import type { Database } from './database.ts'
import { readHead } from './heads.ts'
import { reading } from './transaction.ts'

// Tenants with a head, and tenants with events but no head: a removed head must not hide its journal. One seek per tenant.
const tenantsOf = `
  with recursive owners (tenant) as (
    select min(tenant) from events where tenant > ?1
    union all
    select (select min(tenant) from events where tenant > owners.tenant) from owners where owners.tenant is not null
    limit ?2
  )
  select tenant from owners where tenant is not null
  union select tenant from (select tenant from heads where tenant > ?1 and seq > 0 order by tenant limit ?2)
  order by tenant limit ?2`
// SQLite takes any negative number for no limit.
const ALL = -1

// The joined columns are followed by their presence, and by a check of each size and type, so that no byte can move between columns. SQLite
// orders every blob behind every text, so comparing with x'' tells the type. The index is walked as `i` and the record read as `e`. In one
// step SQLite would take seq and tenant from the index and never check the record itself.
const joined = `
  cast(e.id || e.digest || e.hash || coalesce(e.session, '') || coalesce(e.run, '') || coalesce(e.subject, '') || coalesce(e.cause, '')
    || coalesce(e.key, '') || coalesce(e.salt, '') || coalesce(e.payload, '') as blob),
  e.at, e.type, e.schema, e.class, e.actor,
  (e.session is not null) + 2 * (e.run is not null) + 4 * (e.subject is not null) + 8 * (e.cause is not null) + 16 * (e.key is not null)
    + 32 * (e.salt is not null) + 64 * (e.payload is not null),
  length(e.id) = 16 and length(e.digest) = 32 and length(e.hash) = 32
    and (e.session is null or (length(e.session) = 16 and e.session >= x'')) and (e.run is null or (length(e.run) = 16 and e.run >= x''))
    and (e.subject is null or (length(e.subject) = 16 and e.subject >= x'')) and (e.cause is null or (length(e.cause) = 16 and e.cause >= x''))
    and (e.key is null or (length(e.key) = 16 and e.key >= x'')) and (e.salt is null or (length(e.salt) = 16 and e.salt >= x''))
    and e.id >= x'' and e.digest >= x'' and e.hash >= x'' and (e.payload is null or e.payload < x''),
  e.seq, e.tenant, i.seq`

// Rows per fetch: few at first, then as many as the byte limit allows, so that large payloads cause no long read.
const ROWS_AT_FIRST = 16
const ROWS_AT_MOST = 512

export function journalReads(db: Database): JournalReads {
  return {
    head: (tenant) => reading(db, () => readHead(db, tenant)),
    page: (tenant, query) => reading(db, () => readPage(db, tenant, query)),
    tenants: ({ after = '', limit = ALL } = {}) => reading(db, () => db.all(tenantsOf, after, limit).map((row) => row.tenant as TenantId)),
  }
}

function readPage(db: Database, tenant: TenantId, query: PageQuery): Page {
  // The head is read before the rows: an event that lands in between is seen early, never missed.
  const { seq: head, state } = readHead(db, tenant)
  checkActive(tenant, state)
  const { backwards, limit, bytes = Infinity } = query
  const [sql, values] = pageStatement(tenant, query)
  const events: EventRecord[] = []
  let from = query.from
  let size = 0
  for (;;) {
    const room = events.length === 0 ? ROWS_AT_FIRST : Math.ceil((bytes - size) / Math.max(1, size / events.length))
    const wanted = Math.min(Math.max(1, room), ROWS_AT_MOST, limit - events.length)
    const rows = wanted > 0 ? db.lists(sql, from, ...values, wanted) : []
    for (const row of rows) {
      const event = decodeRow(tenant, row)
      events.push(event)
      size += event.payload?.length ?? 0
      from = event.seq
      if (size >= bytes) break
    }
    if ((events.length > 0 && size >= bytes) || events.length >= limit) return { events, through: from, more: true }
    if (rows.length < wanted) break
  }
  const end = backwards ? Math.max(query.to ?? 1, 1) : Math.max(head, from)
  return { events, through: backwards ? Math.min(from, end) : Math.max(query.from, Math.min(query.to ?? end, end)), more: false }
}

/** The statement for this shape of query. Queries of the same shape share its text and plan. */
function pageStatement(tenant: TenantId, q: PageQuery): readonly [string, (string | number | Uint8Array)[]] {
  const where: string[] = []
  const values: (string | number | Uint8Array)[] = [tenant]
  const also = (condition: string, ...more: (string | number | Uint8Array)[]) => {
    where.push(condition)
    values.push(...more)
  }
  if (q.to !== undefined) also(q.backwards ? 'i.seq >= ?' : 'i.seq <= ?', q.to)
  const narrow = q.id ? 'id' : q.key ? 'key' : q.session ? 'session' : q.run ? 'run' : q.subject ? 'subject' : undefined
  const side = (column: string) => `${column === narrow ? 'i' : 'e'}.${column} = ?`
  if (q.id) also(side('id'), idBytes(q.id))
  // SQLite uses a partial index only if the statement repeats its condition.
  if (q.key) also(`${side('key')} and i.subject is null`, q.key)
  if (q.session) also(side('session'), idBytes(q.session))
  if (q.run) also(side('run'), idBytes(q.run))
  if (q.subject) also(side('subject'), idBytes(q.subject))
  if (q.actor !== undefined) also('e.actor = ?', q.actor)
  if (q.since !== undefined) also('e.at >= ?', q.since)
  if (q.until !== undefined) also('e.at < ?', q.until)
  const only = !narrow && q.types?.length === 1 && !q.types[0]?.prefix ? q.types[0] : undefined
  if (only) also('i.type = ?', only.text)
  else if (q.types) also(...typeCondition(q.types))
  const sql = `select ${joined} from events as i indexed by events_by_${narrow ?? (only ? 'type' : 'seq')} cross join events as e on e.rowid = i.rowid
    where i.seq ${q.backwards ? '<' : '>'} ? and i.tenant = ? ${where.map((w) => `and ${w}`).join(' ')}
    order by i.seq ${q.backwards ? 'desc' : ''} limit ?`
  return [sql, values]
}

function typeCondition(patterns: readonly TypePattern[]): [string, ...(string | number)[]] {
  if (patterns.length === 0) return ['false']
  const ordered = patterns.toSorted((a, b) => Number(a.prefix) - Number(b.prefix))
  const parts = ordered.map((p) => (p.prefix ? 'substr(e.type, 1, ?) = ?' : 'e.type = ?'))
  const values = ordered.flatMap((p) => (p.prefix ? [p.text.length, p.text] : [p.text]))
  return [`(${parts.join(' or ')})`, ...values]
}

const FIXED = 80
const ZERO_ID = readId(new Uint8Array(16))
const isU = (value: unknown, bits: number): boolean => Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** bits

// The hot path of every read and verify, so it is plain code that allocates little.
function decodeRow(tenant: TenantId, row: readonly unknown[]): EventRecord {
  const [joinedBytes, time, type, schema, kind, actor, parts, whole, seq, owner, place] = row
  // A damaged record may contain values of any type.
  const numbers = isU(time, 53) && isU(schema, 32) && isU(kind, 1)
  const texts = typeof type === 'string' && typeof actor === 'string'
  let sound = whole === 1 && numbers && texts && owner === tenant && seq === place && joinedBytes instanceof Uint8Array
  const bytes = joinedBytes instanceof Uint8Array && joinedBytes.length >= FIXED ? joinedBytes : new Uint8Array(FIXED)
  const held = sound ? (parts as number) : 0
  let at = FIXED
  const session = held & 1 ? readId<'session'>(bytes, at) : undefined
  if (session) at += 16
  const run = held & 2 ? readId<'run'>(bytes, at) : undefined
  if (run) at += 16
  const subject = held & 4 ? readId(bytes, at) : undefined
  if (subject) at += 16
  const cause = held & 8 ? readId<'event'>(bytes, at) : undefined
  if (cause) at += 16
  const key = held & 16 ? bytes.subarray(at, at + 16) : undefined
  if (key) at += 16
  const salt = held & 32 ? bytes.subarray(at, at + 16) : undefined
  if (salt) at += 16
  // Absent values are null: sixteen zeros would hash the same and read as an id.
  if (session === ZERO_ID || run === ZERO_ID || subject === ZERO_ID || cause === ZERO_ID || key?.every((byte) => byte === 0)) sound = false
  return {
    seq: Number(place),
    id: readId<'event'>(bytes),
    at: Number(time),
    type: String(type),
    schema: Number(schema),
    class: Number(kind) as EventClass,
    actor: String(actor),
    session,
    run,
    subject,
    cause,
    key,
    salt,
    payload: held & 64 ? bytes.subarray(at) : undefined,
    // A column of the wrong size or type is damage. The empty digest matches nothing, so verify names the event.
    digest: sound ? bytes.subarray(16, 48) : new Uint8Array(0),
    hash: bytes.subarray(48, FIXED),
  }
}
