// Everything that can be read from a backend, as lines of text. Two backends with equal lines hold the same data, and the first different
// line shows where they differ.

import { canonical } from '../model/canonical.ts'
import type { EventRecord } from '../model/event.ts'
import type { TenantId } from '../model/ids.ts'
import type { StoredRow } from '../model/rows.ts'
import { tableNames } from '../model/tables.ts'
import type { Backend } from '../ports/backend.ts'
import type { Outcome } from '../ports/commit.ts'
import type { Head, JournalReads, PageQuery } from '../ports/journal.ts'
import type { Snapshot } from '../ports/upkeep.ts'

const hexOf = (bytes: Uint8Array | undefined): string =>
  bytes === undefined ? '-' : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
// Text for the reader, or bytes if the text would hide a difference.
function textOf(bytes: Uint8Array | undefined): string {
  if (bytes === undefined) return '(erased)'
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
  return text.includes('\uFFFD') ? `0x${hexOf(bytes)}` : text
}

/** Everything of an event that an erasure leaves. */
export const headerLine = (e: EventRecord): string =>
  `${e.seq} ${e.type} id=${e.id} at=${e.at} schema=${e.schema} class=${e.class} actor=${e.actor} session=${e.session ?? '-'} run=${e.run ?? '-'} ` +
  `subject=${e.subject ?? '-'} cause=${e.cause ?? '-'} key=${hexOf(e.key)} digest=${hexOf(e.digest)} hash=${hexOf(e.hash)}`

export const eventLine = (e: EventRecord): string =>
  `${headerLine(e)} salt=${hexOf(e.salt)} payload(${e.payload?.length ?? 0})=${textOf(e.payload)}`

export const rowLine = (row: StoredRow): string =>
  `${JSON.stringify(row.id)} born=${row.born} revision=${row.revision} fence=${row.fence ?? '-'} body=${row.body}`

export function outcomeLine(outcome: Outcome, withTime: boolean): string {
  const { now, ...rest } = outcome
  return canonical(withTime ? { ...rest, now } : rest)
}

/** Reads to the end, and checks each page against the promises of the port. */
export async function readAll(journal: JournalReads, tenant: TenantId, query: Partial<PageQuery> = {}): Promise<readonly EventRecord[]> {
  const { from: start = 0, limit = 500, ...rest } = query
  const backwards = rest.backwards ?? false
  const ahead = (a: number, b: number): boolean => (backwards ? a < b : a > b)
  const events: EventRecord[] = []
  let from = start
  for (;;) {
    const page = await journal.page(tenant, { ...rest, from, limit })
    if (page.events.length > limit) throw new Error(`a page of ${page.events.length} events where at most ${limit} were asked for`)
    let last = from
    for (const { seq } of page.events) {
      if (!ahead(seq, last)) throw new Error(`seq ${seq} came after seq ${last} on the way ${backwards ? 'down' : 'up'}`)
      last = seq
    }
    events.push(...page.events)
    if (ahead(last, page.through)) throw new Error(`the page holds seq ${last} and says that it looked only through ${page.through}`)
    if (!page.more) return events
    if (!ahead(page.through, from)) throw new Error(`a page from ${from} says that there is more and goes no further`)
    from = page.through
  }
}

const headLine = (tenant: TenantId, { seq, hash, state }: Head): string => `${tenant} head ${seq} ${hexOf(hash)} ${state}`

export async function snapshotLines(snapshot: Snapshot, tenant: TenantId): Promise<readonly string[]> {
  const head = await snapshot.journal.head(tenant)
  const lines = [headLine(tenant, head)]
  for (const event of await readAll(snapshot.journal, tenant)) lines.push(`${tenant} event ${eventLine(event)}`)
  for (const table of tableNames) {
    let after: string | undefined
    for (;;) {
      const rows = await snapshot.rows(table, after, 100)
      for (const row of rows) lines.push(`${tenant} ${table} ${rowLine(row)}`)
      if (rows.length < 100) break
      after = rows.at(-1)?.id
    }
  }
  return lines
}

export async function picture(backend: Backend, tenants: readonly TenantId[]): Promise<readonly string[]> {
  const lines = [`tenants ${(await backend.journal.tenants()).join(' ')}`]
  for (const tenant of tenants) {
    const head = await backend.journal.head(tenant)
    if (head.state !== 'active') {
      // A closed tenant shows only its head.
      lines.push(headLine(tenant, head))
      continue
    }
    const snapshot = await backend.upkeep.snapshot(tenant)
    try {
      lines.push(...(await snapshotLines(snapshot, tenant)))
    } finally {
      await snapshot.close()
    }
  }
  return lines
}

/** Returns the first line in which two pictures differ, or `undefined`. */
export function firstDifference(expected: readonly string[], found: readonly string[]): string | undefined {
  for (let i = 0; i < Math.max(expected.length, found.length); i++) {
    if (expected[i] !== found[i]) return `- ${expected[i] ?? '(nothing)'}\n+ ${found[i] ?? '(nothing)'}`
  }
  return undefined
}
