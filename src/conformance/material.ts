// Test material: drafts, commits, keys and rows, built as the kernel builds them, from seeded random numbers.

import { hash } from 'node:crypto'
import { canonical } from '../model/canonical.ts'
import { eventDigest, keyDigest, payloadDigest } from '../model/chain.ts'
import { DURABLE, type EventClass, type EventDraft } from '../model/event.ts'
import { type EventId, type Id, idMaker, type RunId, type SessionId, type TenantId, tenantId } from '../model/ids.ts'
import { type Body, columnsOf, encodeBody } from '../model/rows.ts'
import { type ColumnType, type ColumnValue, type TableName, tableOf } from '../model/tables.ts'
import type { Change, Commit, CommitKey } from '../ports/commit.ts'
import { type Chance, chance } from './chance.ts'

export const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')

export const MAIN = tenantId('main')
export const OTHER = tenantId('acme')

const START = 1_700_000_000_000

export interface WantedEvent {
  readonly type?: string
  readonly payload?: string
  readonly at?: number
  readonly class?: EventClass
  readonly actor?: string
  readonly session?: SessionId
  readonly run?: RunId
  readonly subject?: Id
  readonly cause?: EventId
  readonly key?: Uint8Array
}

export interface Maker {
  readonly chance: Chance
  id<Name extends string>(): Id<Name>
  draft(tenant: TenantId, wanted?: WantedEvent): EventDraft
  /** Contains one event unless `rest` says otherwise. */
  commit(tenant: TenantId, rest?: Partial<Omit<Commit, 'tenant'>>): Commit
  /** Creates `count` commits of one event each. */
  commits(tenant: TenantId, count: number, wanted?: (i: number) => WantedEvent): readonly Commit[]
}

export function maker(seed = 1): Maker {
  const random = chance(seed)
  let time = START
  const id = idMaker(
    () => time,
    (count) => random.bytes(count),
  )
  const draft = (tenant: TenantId, wanted: WantedEvent = {}): EventDraft => {
    time += 1
    const payload = wanted.payload ?? `{"n":${time - START}}`
    const salt = random.bytes(16)
    const digest = payloadDigest(sha256, salt, payload)
    const header = {
      id: id<'event'>(),
      at: wanted.at ?? time,
      type: wanted.type ?? 'note.made',
      schema: 1,
      class: wanted.class ?? DURABLE,
      actor: wanted.actor ?? '',
      session: wanted.session,
      run: wanted.run,
      subject: wanted.subject,
      cause: wanted.cause,
      key: wanted.key,
    }
    return { ...header, payload, salt, digest, event: eventDigest(sha256, tenant, header, digest) }
  }
  const commit = (tenant: TenantId, rest: Partial<Omit<Commit, 'tenant'>> = {}): Commit => ({
    tenant,
    guards: [],
    changes: [],
    ...rest,
    events: rest.events ?? [draft(tenant)],
  })
  return {
    chance: random,
    id,
    draft,
    commit,
    commits: (tenant, count, wanted) => Array.from({ length: count }, (_, i) => commit(tenant, { events: [draft(tenant, wanted?.(i))] })),
  }
}

export const keyOf = (tenant: TenantId, key: string, body: unknown = { do: key }): CommitKey => ({
  digest: keyDigest(sha256, tenant, 'conformance', key),
  body: canonical(body),
})

export interface PutOptions {
  /** The index of the event in its commit. */
  readonly event?: number
  readonly grants?: boolean
}

/** `values` are members of the body by the names of their columns. */
export const put = (table: TableName, id: string, values: Body = {}, { event = 0, grants = false }: PutOptions = {}): Change => {
  const body = bodyOf(table, values)
  return { kind: 'put', table, id, columns: columnsOf(table, body), body: encodeBody(body), event, ...(grants && { grants }) }
}

/** A column that is a member of a member goes where `columnsOf` looks for it. */
function bodyOf(table: TableName, values: Body): Body {
  const paths = Object.entries(tableOf(table).paths ?? {}).filter(([column]) => column in values)
  const body: Record<string, unknown> = { ...values }
  for (const [column] of paths) delete body[column]
  for (const [column, [outer, inner]] of paths) body[outer] = { ...(body[outer] as Body | undefined), [inner]: values[column] }
  return body
}

// UTF-16 units and UTF-8 bytes order the last two texts differently.
const values: Readonly<Record<ColumnType, readonly ColumnValue[]>> = {
  text: [null, 'a', 'B', 'ä', '', '\uFFFD', '\u{1F600}'],
  integer: [null, 0, -1, 7, 1_700_000_000_000, 2],
}

/** Values that an indexed column may hold, null first. */
export const valuesOf = (table: TableName, column: string): readonly ColumnValue[] => values[tableOf(table).columns[column] ?? 'integer']
