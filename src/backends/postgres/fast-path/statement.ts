// The fast path: one statement for a batch, if this node knows the tenant's head. The node computes the links. The statement moves the head from
// the known place to the new one, inserts the events and changes the rows. If the head is elsewhere, or a row is not as expected, it writes
// nothing, and the caller falls back to the commit function, which checks everything.

import { Buffer } from 'node:buffer'
import { linkHash } from '../../../model/chain.ts'
import { assert } from '../../../model/errors.ts'
import type { EventDraft, Receipt } from '../../../model/event.ts'
import { idBytes } from '../../../model/ids.ts'
import type { Commit, Outcome } from '../../../ports/commit.ts'
import type { CommitSettings } from '../commit.ts'
import { insertEvents } from '../commit-function.ts'
import { EVENT_PARAMETERS, eventPlaces, eventValues } from '../commit-parameters.ts'
import type { Value } from '../connections.ts'
import { BY_INDEX, type Database, type Opening } from '../database.ts'
import { packEvents } from '../pack.ts'
import { sha256 } from '../sha256.ts'
import type { Addition, AdditionText } from './addition.ts'
import { content } from './content.ts'
import { freeNames } from './free-names.ts'
import { rowChanges } from './rows.ts'
import type { KnownHead, Start } from './state.ts'

// Events are inserted only if the head was where expected: the insertion selects from the moved head.
const HEAD = 5

const statement = (insertion: string, { parts, counts }: AdditionText, expected: string): string => `with moved as (
    select h.tenant
    from (select inkfast.move_head_v1($1::text, $2::bigint, $5::bytea, $3::bigint, $4::bytea) as tenant offset 0) h
    where h.tenant is not null
  ), added as (
    ${insertion}
  )${parts.map((part) => `, ${part}`).join('')}
  select floor(extract(epoch from clock_timestamp()) * 1000)::bigint + c.offset_ms${counts.length === 0 ? '' : ` / ${allMet(counts, expected)}`}
  from inkfast.clock c, moved m where c.id`

/** How the events of a batch are inserted. Most batches hold one event, which needs no arrays: an eighth less work for the server. */
interface Insertion {
  readonly text: string
  readonly parameters: number
}

const several: Insertion = {
  text: `${insertEvents({
    tenant: 'm.tenant',
    seq: '$2::bigint + d.n',
    hash: `substring($${HEAD + 1}::bytea from d.n::integer * 32 - 31 for 32)`,
    parameters: eventPlaces(HEAD + 2),
  })}, moved m`,
  parameters: 1 + Object.keys(EVENT_PARAMETERS).length,
}

const alone: Insertion = {
  text: `insert into inkfast.events
      (tenant, seq, hash, id, at, type, schema, class, actor, session, run, subject, cause, key, payload, salt, digest)
    select m.tenant, $3::bigint, $4::bytea, $6::bytea, $7::bigint, $8::text, $9::bigint, $10::smallint, $11::text,
      $12::bytea, $13::bytea, $14::bytea, $15::bytea, $16::bytea, $17::text, $18::bytea, $19::bytea
    from moved m`,
  parameters: 14,
}

const optional = (id: string | undefined): Uint8Array | null => (id === undefined ? null : idBytes(id))

const packAlone = (e: EventDraft): readonly Value[] => [
  idBytes(e.id),
  e.at,
  e.type,
  e.schema,
  e.class,
  e.actor,
  optional(e.session),
  optional(e.run),
  optional(e.subject),
  optional(e.cause),
  e.key ?? null,
  e.payload,
  e.salt,
  e.digest,
]

// Whatever is not as expected fails the statement with a division by zero, which rolls back everything it did.
const allMet = (counts: readonly string[], expected: string): string =>
  `(case when ${counts.join(' + ')} = ${expected}::bigint then 1 else 0 end)`

// One text per shape: prepared statements are found by their text.
const textsByShape = new Map<string, string>()
const SHAPES_MOST = 1000

function textOf(insertion: Insertion, additions: readonly Addition[]): string {
  const shape = [insertion === alone ? '1' : 'n', ...additions.map((addition) => addition.shape)].join(' ')
  const known = textsByShape.get(shape)
  if (known !== undefined) return known
  if (textsByShape.size >= SHAPES_MOST) textsByShape.clear()
  let last = HEAD + insertion.parameters
  const place = () => `$${++last}`
  const expected = place()
  const texts = additions.map((addition) => addition.text(place))
  const all = { parts: texts.flatMap(({ parts }) => parts), counts: texts.flatMap(({ counts }) => counts) }
  const text = statement(insertion.text, all, expected)
  textsByShape.set(shape, text)
  return text
}

// Makes the server find rows by id, whatever size the table had when the plan was made. Settings cost time, and most batches change no rows.
const FOUND_BY_THEIR_IDS = [...BY_INDEX, ...['hashjoin', 'mergejoin'].map((way) => `'enable_${way}', 'off'`)]

const opening = ({ durable, lockMs }: CommitSettings, looks: boolean): Opening => ({
  settings: [
    `'inkfast.tenant', $1`,
    `'lock_timeout', '${lockMs}'`,
    `'synchronous_commit', '${durable ? 'on' : 'off'}'`,
    `'plan_cache_mode', 'force_generic_plan'`,
    ...(looks ? FOUND_BY_THEIR_IDS : []),
  ],
})

const openings = new WeakMap<CommitSettings, { readonly events: Opening; readonly rows: Opening }>()

function openingOf(settings: CommitSettings, looks: boolean): Opening {
  const known = openings.get(settings) ?? { events: opening(settings, false), rows: opening(settings, true) }
  openings.set(settings, known)
  return looks ? known.rows : known.events
}

const additionsOf = (batch: readonly Commit[], { head, moves, free, content: named }: Start): readonly Addition[] => [
  ...(moves.size > 0 ? [rowChanges(moves)] : []),
  ...(free.length > 0 ? [freeNames(free)] : []),
  ...(named ? [content(batch, named, head.seq)] : []),
]

/** Undefined if the head was not where expected: then nothing was written. */
export async function commitFast(
  db: Database,
  batch: readonly Commit[],
  start: Start,
  settings: CommitSettings,
): Promise<{ readonly outcomes: readonly Outcome[]; readonly head: KnownHead } | undefined> {
  const { head } = start
  const tenant = batch[0]?.tenant
  assert(tenant !== undefined, 'a batch holds a commit')
  const events = batch.flatMap((commit) => commit.events)
  const links = Buffer.allocUnsafe(events.length * 32)
  let [seq, last] = [head.seq, head.hash]
  for (const { event } of events) {
    last = linkHash(sha256, last, ++seq, event)
    links.set(last, (seq - head.seq - 1) * 32)
  }
  const additions = additionsOf(batch, start)
  const [first] = events
  const lone = events.length === 1 && first ? first : undefined
  const values = [
    tenant,
    head.seq,
    seq,
    last,
    head.hash,
    ...(lone ? packAlone(lone) : [links, ...eventValues(packEvents(events))]),
    ...(additions.length > 0 ? [additions.reduce((sum, { count }) => sum + count, 0)] : []),
    ...additions.flatMap((addition) => addition.values),
  ]
  const step = { text: textOf(lone ? alone : several, additions), values, tenant, prepared: true }
  const [rows] = await db.run([step], 'writing', openingOf(settings, additions.length > 0), [db.wall.whatever(tenant)])
  const found = rows?.[0]?.[0]
  if (!found) return undefined
  const now = Number(found)
  let [place, digits] = [head.seq, links.toString('hex')]
  const outcomes = batch.map((commit): Outcome => {
    const receipts = commit.events.map(({ id }): Receipt => {
      place++
      const end = (place - head.seq) * 64
      return { id, seq: place, hash: digits.slice(end - 64, end), tenant }
    })
    return { ok: true, receipts, repeated: false, now }
  })
  return { outcomes, head: { seq, hash: last } }
}
