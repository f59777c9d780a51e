// The steps of a random walk: batches of commits that are valid, invalid, repeated or sent again, and sometimes maintenance.

import type { EventDraft } from '../model/event.ts'
import { typePattern } from '../model/event.ts'
import { type Id, type RunId, type SessionId, type TenantId, tenantId } from '../model/ids.ts'
import { type ColumnValue, type TableName, tableNames, tableOf } from '../model/tables.ts'
import type { TenantState } from '../model/tenant.ts'
import type { Backend } from '../ports/backend.ts'
import type { Change, Commit, Guard } from '../ports/commit.ts'
import type { Head, PageQuery } from '../ports/journal.ts'
import type { Lease } from '../ports/leases.ts'
import type { ListQuery } from '../ports/rows.ts'
import type { Chance } from './chance.ts'
import { keyOf, maker, put, valuesOf } from './material.ts'

export type Step =
  | { readonly kind: 'commit'; readonly batch: readonly Commit[] }
  | { readonly kind: 'sweep'; readonly before: number }
  | { readonly kind: 'renew'; readonly tenant: TenantId; readonly held: readonly Lease[]; readonly ms: number }
  | {
      readonly kind: 'adopt'
      readonly tenant: TenantId
      readonly folded: readonly { readonly seq: number; readonly changes: readonly Change[] }[]
      readonly head: Head
    }

export const TENANTS: readonly TenantId[] = ['main', 'acme', 'Zed'].map(tenantId)

const TYPES = ['note.made', 'plan.changed', 'plan.dropped', 'tool.called']
const ACTORS = ['', 'ada', 'grace']
const ROW_IDS = ['a', 'b', 'A', '\uFFFD', '\u{1F600}']
const WORK_IDS = [...ROW_IDS, 'c', 'd', 'e', '0', 'z']
// Few values, so that items meet in queues and series. `at` is long past, far ahead, or comes up during the walk.
const WORK: Readonly<Record<string, readonly ColumnValue[]>> = {
  queue: ['a', 'a', 'a', 'B', null],
  state: ['ready', 'ready', 'ready', 'ready', 'claimed', 'claimed', 'asleep', 'dead', null],
  priority: [0, 0, 7, -1, null],
  at: [7, 7, 0, 1_600_000_000_000, 9_000_000_000_000, null],
  series: [null, null, 'a', '\uFFFD', '\u{1F600}'],
}
const AHEAD_MS = 120_000
const A_DAY = 86_400_000
const PAYLOADS = ['null', '{"text":"ä€😀"}', '[1,2.50,"\\u0000"]', `"${'x'.repeat(300)}"`]

// Few of each, so that commits meet.
const shelf = maker(99)
const SESSIONS = Array.from({ length: 3 }, () => shelf.id<'session'>())
const RUNS = Array.from({ length: 2 }, () => shelf.id<'run'>())
const SUBJECTS = Array.from({ length: 3 }, () => shelf.id())

export interface StepOptions {
  /** Store time, if it is shared; without it nothing is swept. */
  readonly times: (() => number) | undefined
}

/** Reads the oracle, so that about half of the commits are valid. */
export function stepMaker(random: Chance, oracle: Backend, { times }: StepOptions): (at: number) => Promise<Step> {
  const make = maker(random.int(0x7fffffff))
  const sent: { readonly commit: Commit; readonly after: number }[] = []
  const maybe = <T>(often: number, value: () => T): T | undefined => (random.percent(often) ? value() : undefined)

  const draft = (tenant: TenantId): EventDraft => {
    const [session, run, subject] = [
      maybe<SessionId>(60, () => random.pick(SESSIONS)),
      maybe<RunId>(30, () => random.pick(RUNS)),
      maybe<Id>(40, () => random.pick(SUBJECTS)),
    ]
    return make.draft(tenant, {
      type: random.pick(TYPES),
      payload: random.pick(PAYLOADS),
      actor: random.pick(ACTORS),
      class: random.percent(20) ? 1 : 0,
      ...(session && { session }),
      ...(run && { run }),
      ...(subject && { subject }),
    })
  }

  const valueFor = (table: TableName, column: string): ColumnValue => {
    if (table !== 'work') return random.pick(valuesOf(table, column))
    const soon = column === 'at' && times !== undefined && random.percent(30)
    return soon ? times() + random.int(AHEAD_MS) : random.pick(WORK[column] ?? [null])
  }

  const change = (head: number, events: number): Change => {
    const table = random.percent(35) ? 'work' : random.pick(tableNames)
    const id = random.pick(table === 'work' ? WORK_IDS : ROW_IDS)
    if (random.percent(20)) return { kind: 'remove', table, id }
    if (random.percent(20)) return { kind: 'erase', seqs: Array.from({ length: 1 + random.int(2) }, () => 1 + random.int(head + 1)) }
    const body = Object.fromEntries(Object.keys(tableOf(table).columns).map((column) => [column, valueFor(table, column)]))
    const grants = tableOf(table).fenced === true && random.percent(50)
    return put(table, id, { ...body, n: random.int(100) }, { event: random.int(events), grants })
  }

  const guard = async (tenant: TenantId): Promise<Guard> => {
    const right = random.percent(75)
    const wrong = (value: number): number => (right ? value : random.percent(50) ? value + 1 : random.int(4))
    if (random.percent(30)) {
      const session = random.pick(SESSIONS)
      const last = await oracle.journal.page(tenant, { from: Number.MAX_SAFE_INTEGER, backwards: true, limit: 1, session })
      return { kind: 'quiet', session, after: right ? (last.events[0]?.seq ?? 0) : random.int(5) }
    }
    const id = random.pick(ROW_IDS)
    if (random.percent(30)) {
      const held = random.pick(['leases', 'work'] as const)
      return { kind: 'fence', table: held, id, fence: wrong((await oracle.rows.get(tenant, held, id))?.fence ?? 0) }
    }
    const table = random.pick(tableNames)
    return { kind: 'row', table, id, revision: wrong((await oracle.rows.get(tenant, table, id))?.revision ?? 0) }
  }

  // Tenants are suspended for a while. The last one may be deleted, after which attempts to resume it must fail.
  const turn = (tenant: TenantId, from: TenantState): Commit => {
    const last = tenant === TENANTS.at(-1)
    const state = from === 'active' ? 'suspended' : last && random.percent(10) ? 'deleted' : random.percent(85) ? 'active' : 'suspended'
    return { tenant, guards: [], events: [draft(tenant)], changes: [{ kind: 'state', state }] }
  }

  const commit = async (): Promise<Commit> => {
    const tenant = random.pick(TENANTS)
    const { seq: head, state } = await oracle.journal.head(tenant)
    const again = sent.length > 0 && random.percent(15) ? random.pick(sent) : undefined
    if (again) return { ...again.commit, since: random.pick([0, again.after, again.after, head]) }
    if (random.percent(state === 'active' ? 2 : 40)) {
      const made = turn(tenant, state)
      sent.push({ commit: made, after: head })
      return made
    }
    const keyed = random.percent(35)
    const key = keyed ? keyOf(tenant, `k${random.int(5)}`, random.percent(80) ? 'same' : 'other') : undefined
    const guards: Guard[] = []
    // A closed tenant does not reveal the values that a guard needs.
    while (state === 'active' && random.percent(40)) guards.push(await guard(tenant))
    if (key && random.percent(15)) return { tenant, key, guards, events: [], changes: [] }
    const events = Array.from({ length: 1 + random.int(3) }, () => draft(tenant))
    const changes = Array.from({ length: random.int(4) }, () => change(head, events.length))
    const made = { tenant, ...(key && { key }), guards, events, changes }
    sent.push({ commit: made, after: head })
    return made
  }

  const adopt = async (): Promise<Step> => {
    const tenant = random.pick(TENANTS)
    const head = await oracle.journal.head(tenant)
    const folded = Array.from({ length: random.int(6) }, (_, i) => ({
      seq: 1 + i,
      changes: [change(0, 1)].filter((one) => one.kind !== 'erase'),
    }))
    return { kind: 'adopt', tenant, folded, head: random.percent(70) ? head : { ...head, seq: head.seq + 1 } }
  }

  const renew = async (): Promise<Step> => {
    const tenant = random.pick(TENANTS)
    const { state } = await oracle.journal.head(tenant)
    const held: Lease[] = []
    for (const id of WORK_IDS) {
      const fence = state === 'active' ? ((await oracle.rows.get(tenant, 'work', id))?.fence ?? 0) : 0
      if (random.percent(60)) held.push({ id, fence: random.percent(75) ? fence : random.int(fence + 2) })
    }
    return { kind: 'renew', tenant, held, ms: random.pick(times ? [0, 3000, 20_000] : [0, A_DAY]) }
  }

  return async (at) => {
    // Every tenant exists from the first step on.
    if (at === 1) return { kind: 'commit', batch: TENANTS.map((tenant) => make.commit(tenant)) }
    if (random.percent(5)) return adopt()
    if (random.percent(10)) return renew()
    if (times && random.percent(5)) return { kind: 'sweep', before: times() - random.int(60_000) }
    const batch: Commit[] = []
    for (let left = random.int(6); left >= 0; left--) batch.push(await commit())
    return { kind: 'commit', batch: random.percent(3) ? [] : batch }
  }
}

/** Describes a step in a few words, for the report of a mismatch. */
export function tell(step: Step): string {
  if (step.kind !== 'commit') return step.kind
  return step.batch
    .map((c) => {
      const guards = c.guards.map((g) => g.kind).join('+')
      const changes = c.changes.map(tellChange).join(', ')
      return `${c.tenant}: ${c.events.length} events${c.key ? ', keyed' : ''}${c.since !== undefined ? `, since ${c.since}` : ''}${guards && `, if ${guards}`}${changes && `, ${changes}`}`
    })
    .join('; ')
}

function tellChange(change: Change): string {
  if (change.kind === 'erase') return `erase ${change.seqs.join()}`
  return change.kind === 'state' ? `now ${change.state}` : `${change.kind} ${change.table}/${change.id}`
}

export interface Reads {
  readonly page: Partial<PageQuery>
  readonly list: { readonly table: TableName; readonly query: ListQuery }
  readonly queue: string
}

const pickable = (table: TableName, column: string): readonly ColumnValue[] =>
  (table === 'work' ? WORK[column] : undefined) ?? valuesOf(table, column)

/** Selects one page query, one list query and one queue. */
export function pickReads(random: Chance): Reads {
  const backwards = random.percent(50)
  const page: Partial<PageQuery> = {
    backwards,
    from: backwards ? random.pick([1000, 20, 5]) : random.pick([0, 3, 40]),
    limit: 1 + random.int(20),
    ...(random.percent(30) && { session: random.pick(SESSIONS) }),
    ...(random.percent(15) && { run: random.pick(RUNS) }),
    ...(random.percent(15) && { subject: random.pick(SUBJECTS) }),
    ...(random.percent(20) && { actor: random.pick(ACTORS) }),
    ...(random.percent(30) && { types: [typePattern(random.pick(['*', 'plan.*', 'note.made']))] }),
    ...(random.percent(20) && { to: random.int(60) }),
    ...(random.percent(20) && { bytes: random.int(500) }),
  }
  const table = random.percent(40) ? 'work' : random.pick(tableNames)
  const [index, columns] = random.pick(Object.entries(tableOf(table).indexes))
  const equals = columns
    .slice(0, random.int(columns.length))
    .map((column) => (column in tableOf(table).columns ? random.pick(pickable(table, column)) : random.int(20)))
  const next = columns[equals.length]
  const bound = (
    next !== undefined && next in tableOf(table).columns
      ? random.pick(pickable(table, next).filter((value) => value !== null))
      : random.int(50)
  ) as string | number
  const query: ListQuery = {
    index,
    equals,
    limit: 1 + random.int(4),
    ...(random.percent(50) && { backwards: true }),
    ...(random.percent(25) && { from: bound }),
    ...(random.percent(25) && { below: bound }),
  }
  return { page, list: { table, query }, queue: random.pick(['a', 'a', 'B', 'nowhere']) }
}
