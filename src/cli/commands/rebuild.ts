// Rows are a fold: compares the stored rows with the journal and, without --check, replaces them.

import type { Difference, RebuildReport, Store } from '../../index.ts'
import { tableOf } from '../../model/tables.ts'
import { EXIT, type Exit } from '../exit.ts'
import { count, one } from '../format.ts'
import { progress } from '../progress.ts'
import { tellClosed, tenantViews, withStore } from '../store.ts'
import { markColumn, printTable } from '../table.ts'
import { type Terminal, verdict } from '../terminal.ts'
import { harmless, jsonLine } from '../text.ts'

export interface RebuildCommandOptions {
  readonly check?: boolean
  readonly tenant?: string
}

interface Rebuilt extends RebuildReport {
  readonly tenant: string
}

export function rebuild(t: Terminal, url: string | undefined, { check = false, tenant }: RebuildCommandOptions): Promise<Exit> {
  return withStore(
    url,
    async (store) => {
      const reports: Rebuilt[] = []
      const { views, closed } = await tenantViews(store, tenant)
      for (const view of views) reports.push(await fold(t, view, check))
      const equal = reports.every((r) => r.equal)
      const rest = closed.length > 0 && { closed }
      if (t.json) t.out(jsonLine({ equal, check, replaced: !equal && !check, tenants: reports.map(toJson), ...rest }))
      else {
        tell(t, reports, check)
        tellClosed(t, closed)
      }
      return equal || !check ? EXIT.fine : EXIT.unsound
    },
    { write: !check },
  )
}

async function fold(t: Terminal, store: Store, check: boolean): Promise<Rebuilt> {
  const folding = progress(t, `folding the journal of tenant ${store.tenantId}`)
  try {
    return { tenant: store.tenantId, ...(await store.rebuild({ check, signal: t.signal, progress: folding.tell })) }
  } finally {
    folding.end()
  }
}

export interface FieldDifference {
  readonly field: string
  readonly stored?: unknown
  readonly folded?: unknown
}

/** Compares field by field in a fixed order, so that only the differences are shown. */
export function fieldsOf({ table, stored, folded }: Difference): readonly FieldDifference[] {
  if (!stored || !folded)
    return [{ field: 'row', ...(stored && { stored: parse(stored.body) }), ...(folded && { folded: parse(folded.body) }) }]
  const flat = (row: NonNullable<Difference['stored']>): Record<string, unknown> => {
    const body = parse(row.body)
    const members = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : { body }
    return { born: row.born, revision: row.revision, fence: row.fence, ...members }
  }
  const differing = apart(flat(stored), flat(folded))
  if (differing.length > 0) return differing
  // The values are equal and the bytes are not: someone edited the text by hand.
  if (stored.body !== folded.body) return [{ field: 'body', stored: stored.body, folded: folded.body }]
  const indexed = (row: NonNullable<Difference['stored']>): Record<string, unknown> =>
    Object.fromEntries(Object.keys(tableOf(table).columns).map((name, i) => [`indexed ${name}`, row.columns[i]]))
  return [
    ...apart(indexed(stored), indexed(folded)),
    ...(stored.astray ? [{ field: 'turn in its group', stored: 'marked wrong', folded: 'marked by the rows before it' }] : []),
  ]
}

const apart = (a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): readonly FieldDifference[] =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])]
    .filter((field) => JSON.stringify(a[field]) !== JSON.stringify(b[field]))
    .map((field) => ({ field, stored: a[field], folded: b[field] }))

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    // The stored row may contain anything, and is shown unchanged.
    return body
  }
}

const toJson = ({ differences, ...report }: Rebuilt) => ({
  ...report,
  differences: differences.map((d) => ({ table: d.table, id: d.id, fields: fieldsOf(d) })),
})

function tell(t: Terminal, reports: readonly Rebuilt[], check: boolean): void {
  if (reports.length === 0) t.out('The store has no tenants yet, so there are no rows.')
  else {
    printTable(
      t,
      [
        markColumn,
        { title: 'tenant', most: 32, style: 'bold' },
        { title: 'events', right: true },
        { title: 'rows', right: true },
        { title: 'equal to the journal' },
      ],
      reports.map((r) => [
        r.equal ? '✓' : '✗',
        r.tenant,
        count(r.events),
        count(r.rows),
        r.equal ? 'equal' : check ? 'not equal' : 'were not; replaced',
      ]),
    )
  }
  for (const r of reports) tellDifferences(t, r)
  t.out('')
  if (reports.every((r) => r.equal)) t.out(verdict(t, 'ok', 'equal: the stored rows match the rows rebuilt from the journal'))
  else if (check) {
    t.out(verdict(t, 'fail', 'the stored rows differ from the journal'))
    t.out(`${t.paint('bold', 'What to do: ')}check the journal with inkfast verify, then run inkfast rebuild without --check.`)
  } else t.out(verdict(t, 'ok', 'the stored rows differed from the journal and were replaced'))
}

function tellDifferences(t: Terminal, r: Rebuilt): void {
  if (r.equal) return
  t.out('')
  t.out(`${harmless(r.tenant)}: ${one(r.differences.length, 'row')} shown that ${r.differences.length === 1 ? 'differs' : 'differ'}`)
  for (const d of r.differences) {
    t.out(`  ${t.paint('bold', harmless(d.table))} ${harmless(d.id)}`)
    for (const f of fieldsOf(d)) {
      t.out(`    ${harmless(f.field)}: ${t.paint('red', value(f.stored))} → ${t.paint('green', value(f.folded))}`)
    }
  }
}

const value = (v: unknown): string => (v === undefined ? '(none)' : jsonLine(v))
