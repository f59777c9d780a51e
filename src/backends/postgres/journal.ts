// Pages of the journal. A seq is assigned under the lock of the head, which the commit releases. Events therefore appear in order, and
// paging by seq misses none.

import { Buffer } from 'node:buffer'
import { fromHex } from '../../model/bytes.ts'
import { GENESIS } from '../../model/chain.ts'
import type { EventClass, EventRecord } from '../../model/event.ts'
import { idBytes, readId, type TenantId } from '../../model/ids.ts'
import type { TenantState } from '../../model/tenant.ts'
import type { Head, JournalReads, Page, PageQuery } from '../../ports/journal.ts'
import type { Cells, Step, Value } from './connections.ts'
import type { Database } from './database.ts'
import { STORE } from './wall.ts'

const headOf = `select seq, encode(hash, 'hex'), state from inkfast.heads`
const tenantsOf = 'select tenant from inkfast.tenants_v1($1, $2::integer) as tenant'

// All columns of fixed size come as one run of hex digits. A mask of those present and a check of each size make sure that no byte can move
// between columns.
const columns = `
  e.seq, e.at, e.type, e.schema, e.class, e.actor,
  encode(e.id || e.digest || e.hash || coalesce(e.session, '') || coalesce(e.run, '') || coalesce(e.subject, '') || coalesce(e.cause, '')
    || coalesce(e.key, '') || coalesce(e.salt, ''), 'hex'),
  (e.session is not null)::integer + 2 * (e.run is not null)::integer + 4 * (e.subject is not null)::integer
    + 8 * (e.cause is not null)::integer + 16 * (e.key is not null)::integer + 32 * (e.salt is not null)::integer,
  length(e.id) = 16 and length(e.digest) = 32 and length(e.hash) = 32 and coalesce(length(e.session), 16) = 16
    and coalesce(length(e.run), 16) = 16 and coalesce(length(e.subject), 16) = 16 and coalesce(length(e.cause), 16) = 16
    and coalesce(length(e.key), 16) = 16 and coalesce(length(e.salt), 16) = 16,
  e.payload`

const ROWS_AT_MOST = 512

/** Reads for one tenant, on any connection or in a held snapshot. */
export type Reading = (...steps: readonly Step[]) => Promise<readonly (readonly Cells[])[]>

export function journalReads(db: Database): JournalReads {
  return {
    head: async (tenant) => headFrom((await db.readWhatever(tenant, { text: headOf, prepared: true }))[0]),
    page: (tenant, query) => readPage((...steps) => db.readWhileOpen(tenant, ...steps), query),
    tenants: async ({ after = '', limit } = {}) => {
      const [rows = []] = await db.read(STORE, { text: tenantsOf, values: [after, limit ?? null] })
      return rows.map(([tenant]) => tenant as TenantId)
    },
  }
}

export const headStep: Step = { text: headOf, prepared: true }

export function headFrom(rows: readonly Cells[] | undefined): Head {
  const [seq, digits, state] = rows?.[0] ?? []
  if (!seq || !digits) return { seq: 0, hash: GENESIS, state: 'active' }
  return { seq: Number(seq), hash: fromHex(digits), state: state as TenantState }
}

export async function readPage(read: Reading, query: PageQuery): Promise<Page> {
  const { backwards, limit, bytes } = query
  const wanted = Math.max(0, Math.min(limit, ROWS_AT_MOST))
  // The head is read before the rows: an event that lands in between is seen early, never missed.
  const [heads, rows = []] = await read(headStep, pageStep(query, wanted))
  const head = headFrom(heads).seq
  const events: EventRecord[] = []
  let size = 0
  let cut = false
  for (const row of rows) {
    if (events.length > 0 && size >= (bytes ?? Infinity)) {
      cut = true
      break
    }
    const event = decodeRow(row)
    events.push(event)
    size += event.payload?.length ?? 0
  }
  const from = events.at(-1)?.seq ?? query.from
  const full = events.length >= wanted || cut || (events.length > 0 && size >= (bytes ?? Infinity))
  if (full) return { events, through: from, more: true }
  const end = backwards ? Math.max(query.to ?? 1, 1) : Math.max(head, from)
  return { events, through: backwards ? Math.min(from, end) : Math.max(query.from, Math.min(query.to ?? end, end)), more: false }
}

/** The statement for this shape of query. Queries of the same shape share its text and plan. */
export function pageStep(q: PageQuery, limit: number): Step {
  const values: Value[] = [q.from]
  const where: string[] = [`e.seq ${q.backwards ? '<' : '>'} $1::bigint`]
  const also = (condition: (parameter: string) => string, value: Value) => {
    values.push(value)
    where.push(condition(`$${values.length}`))
  }
  if (q.to !== undefined) also((p) => `e.seq ${q.backwards ? '>=' : '<='} ${p}::bigint`, q.to)
  // Each of these filters has its own index. The filter is a range and comes first in the order, so that the planner can use no other
  // index.
  const only = q.types?.length === 1 && !q.types[0]?.prefix ? q.types[0] : undefined
  const narrow = q.id ? 'id' : q.key ? 'key' : q.session ? 'session' : q.run ? 'run' : q.subject ? 'subject' : only ? 'type' : undefined
  const is = (column: string, type: string) => (p: string) =>
    column === narrow ? `e.${column} between ${p}::${type} and ${p}::${type}` : `e.${column} = ${p}::${type}`
  if (q.id) also(is('id', 'bytea'), idBytes(q.id))
  if (q.key) also((p) => `${is('key', 'bytea')(p)} and e.subject is null`, q.key)
  if (q.session) also(is('session', 'bytea'), idBytes(q.session))
  if (q.run) also(is('run', 'bytea'), idBytes(q.run))
  if (q.subject) also(is('subject', 'bytea'), idBytes(q.subject))
  if (q.actor !== undefined) also((p) => `e.actor = ${p}`, q.actor)
  if (q.since !== undefined) also((p) => `e.at >= ${p}::numeric`, q.since)
  if (q.until !== undefined) also((p) => `e.at < ${p}::numeric`, q.until)
  if (only) also(is('type', 'text'), only.text)
  else if (q.types) {
    const ways = q.types.map((pattern) => {
      values.push(pattern.text)
      return pattern.prefix ? `starts_with(e.type, $${values.length})` : `e.type = $${values.length}`
    })
    where.push(ways.length === 0 ? 'false' : `(${ways.join(' or ')})`)
  }
  const down = q.backwards ? ' desc' : ''
  // The index on ids ends with the id, because no two events share one.
  const order = `order by ${[...(narrow ? [narrow] : []), ...(narrow === 'id' ? [] : ['seq'])].map((column) => `e.${column}${down}`).join(', ')}`
  values.push(limit)
  const inner = `select e.* from inkfast.events e where ${where.join(' and ')} ${order} limit $${values.length}::integer`
  if (q.bytes === undefined) return { text: `select ${columns} from (${inner}) e ${order}`, values, prepared: true }
  values.push(q.bytes)
  // The byte limit is applied on the server, so that surplus rows are not sent.
  const sized = `select e.*, sum(coalesce(octet_length(e.payload), 0)) over (${order} rows between unbounded preceding and 1 preceding) as size_before from (${inner}) e`
  return {
    text: `select ${columns} from (${sized}) e where e.size_before is null or e.size_before < $${values.length}::numeric ${order}`,
    values,
    prepared: true,
  }
}

const FIXED = 80
const ZERO_ID = readId(new Uint8Array(16))

// The hot path of every read and verify, so it is plain code that allocates little.
function decodeRow(row: Cells): EventRecord {
  const [seq, at, type, schema, kind, actor, digits, parts, whole, payload] = row
  let sound = whole === 't'
  const given = Buffer.from(digits as string, 'hex')
  const bytes = given.length >= FIXED ? given : Buffer.alloc(FIXED)
  const held = sound ? Number(parts) : 0
  let next = FIXED
  const take = (bit: number): number => {
    if (!(held & bit)) return 0
    next += 16
    return next - 16
  }
  const [session, run, subject, cause, key, salt] = [take(1), take(2), take(4), take(8), take(16), take(32)]
  const id = <Name extends string>(place: number) => (place ? readId<Name>(bytes, place) : undefined)
  const ids = { session: id<'session'>(session), run: id<'run'>(run), subject: id(subject), cause: id<'event'>(cause) }
  // Absent values are null: sixteen zeros would hash the same and read as an id.
  if (ids.session === ZERO_ID || ids.run === ZERO_ID || ids.subject === ZERO_ID || ids.cause === ZERO_ID) sound = false
  if (key && bytes.subarray(key, key + 16).every((byte) => byte === 0)) sound = false
  return {
    seq: Number(seq),
    id: readId<'event'>(bytes),
    at: Number(at),
    type: type as string,
    schema: Number(schema),
    class: Number(kind) as EventClass,
    actor: actor as string,
    ...ids,
    key: key ? bytes.subarray(key, key + 16) : undefined,
    salt: salt ? bytes.subarray(salt, salt + 16) : undefined,
    payload: payload === null || payload === undefined ? undefined : Buffer.from(payload),
    // A column of the wrong size is damage. The empty digest matches nothing, so verify names the event.
    digest: sound ? bytes.subarray(16, 48) : new Uint8Array(0),
    hash: bytes.subarray(48, FIXED),
  }
}
