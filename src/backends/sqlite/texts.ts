// Search by words: one statement over the postings, filters included. Triggers keep the index (see the migration).

import type { TenantId } from '../../model/ids.ts'
import { compareText } from '../../model/order.ts'
import type { StoredRow } from '../../model/rows.ts'
import { type ColumnValue, type TextTable, tableOf } from '../../model/tables.ts'
import type { ColumnRange, Place, ScoredRow, TermQuery, TermStatistics, TextFilter, TextQuery, Texts } from '../../ports/texts.ts'
import type { Database } from './database.ts'
import { ifActive } from './heads.ts'
import { toStored } from './rows.ts'
import { reading } from './transaction.ts'

const corpus = 'select docs, total from corpora where tenant = ? and source = ?'
const oneTerm = 'select df from terms where tenant = ? and source = ? and term = ?'
const byPrefix = 'select term, df from terms where tenant = ? and source = ? and term >= ? and term < ? order by df desc, term limit ?'
const termId = '(select id from terms where tenant = ?1 and source = ?2 and term = ?)'

export function texts(db: Database): Texts {
  return {
    statistics: (tenant, table, query) => reading(db, () => ifActive(db, tenant, () => statistics(db, tenant, table, query))),
    search: (tenant, table, query) => reading(db, () => ifActive(db, tenant, () => search(db, tenant, table, query))),
    around: (tenant, table, places, span) =>
      reading(db, () => ifActive(db, tenant, () => (tableOf(table).text?.thread ? around(db, tenant, table, places, span) : []))),
  }
}

/** Neighbours are found in the index of threads, then each is read once by its row number, without a look in the index of the key. */
function around(db: Database, tenant: TenantId, table: TextTable, places: readonly Place[], span: number): readonly StoredRow[] {
  const near = (sign: '<' | '>', order: string) =>
    `select * from (select born, rowid from ${table} indexed by ${table}_by_thread where tenant = ?1 and thread = ?2 and born ${sign} ?3 and terms is not null order by born${order}, id${order} limit ?4)`
  const nearest = `${near('<', ' desc')} union all ${near('>', '')}`
  const given = new Set(places.map(({ born }) => born))
  const threads = new Map<string, Map<number, number>>()
  for (const { thread, born } of places) {
    const found = threads.get(thread) ?? new Map<number, number>()
    threads.set(thread, found)
    for (const [at, place] of db.lists(nearest, tenant, thread, born, span) as readonly (readonly [number, number])[])
      if (!given.has(at)) found.set(at, place)
  }
  const inOrder = [...threads]
    .sort(([a], [b]) => compareText(a, b))
    .flatMap(([, found]) => [...found].sort(([a], [b]) => a - b).map(([, place]) => place))
  // `json_each` gives its members in their order, and leads the join.
  const rows = `select r.id, r.born, r.revision, null as fence, r.body from json_each(?) as a cross join ${table} as r on r.rowid = a.value order by a.key`
  return db.all(rows, JSON.stringify(inOrder)).map(toStored)
}

function statistics(
  db: Database,
  tenant: TenantId,
  table: TextTable,
  { terms, prefixes = [], beginnings = [], limit = 0 }: TermQuery,
): TermStatistics {
  const counts = db.get(corpus, tenant, table)
  const found = [...new Set(terms)].flatMap((term) => {
    const row = db.get(oneTerm, tenant, table, term)
    return row ? [{ term, rows: row.df as number }] : []
  })
  const known = new Set(found.map(({ term }) => term))
  const unknown = beginnings.filter((word) => !known.has(word))
  const grown = [...prefixes, ...unknown].flatMap((prefix) =>
    db
      .all(byPrefix, tenant, table, prefix, `${prefix}\u{10ffff}`, limit)
      .map((row) => ({ term: row.term as string, rows: row.df as number, prefix })),
  )
  return {
    rows: (counts?.docs as number | undefined) ?? 0,
    length: (counts?.total as number | undefined) ?? 0,
    terms: [...found, ...grown],
  }
}

function search(db: Database, tenant: TenantId, table: TextTable, query: TextQuery): readonly ScoredRow[] {
  if (query.terms.length === 0) return []
  const values: ColumnValue[] = [tenant, table]
  const bind = (value: ColumnValue): string => `?${values.push(value)}`
  const terms = query.terms.map(({ term, weight }) => `(${bind(term)}, ${bind(weight)})`).join(', ')
  const f = `p.tf / (${bind(query.lengthBase)} + ${bind(query.lengthFactor)} * p.len) + p.tf_tags * ${bind(query.tagWeight)} + p.tf_source * ${bind(query.sourceWeight)}`
  const where = conditions(table, query.filter, bind)
  // The query leads: `cross join` keeps the order of the tables. Without `indexed by`, each row would be looked for among all of the tenant.
  const sql = `
    with q (term, weight) as (values ${terms}),
    met as (
      select p.doc, q.weight, ${f} as f from q
      cross join terms as t on t.tenant = ?1 and t.source = ?2 and t.term = q.term
      cross join postings as p on p.tenant = ?1 and p.term = t.id${where.map((one) => ` and ${one}`).join('')}
    ),
    best as (
      select doc, sum(cast(weight * f / (f + ${bind(query.k1)}) as integer)) as score from met group by doc order by score desc, doc limit ${bind(query.limit)}
    )
    select r.id, r.born, r.revision, null as fence, r.body, best.score from best
    cross join ${table} as r indexed by ${table}_by_born on r.tenant = ?1 and r.born = best.doc order by best.score desc, best.doc`
  return db.all(sql, ...values).map((row) => ({ row: toStored(row), score: row.score as number }))
}

/** Conditions on the posting `p`. */
function conditions(table: TextTable, filter: TextFilter, bind: (value: ColumnValue) => string): readonly string[] {
  const id = (mark: string): string => termId.replace('term = ?)', `term = ${bind(mark)})`)
  const posting = (marks: readonly string[]): string =>
    `exists (select 1 from postings as m where m.tenant = ?1 and m.term in (${marks.map(id).join(', ')}) and m.about = p.about and m.doc = p.doc)`
  const range = ({ column, from, below }: ColumnRange): string =>
    [
      `r.${column} is not null`,
      ...(from === undefined ? [] : [`r.${column} >= ${bind(from)}`]),
      ...(below === undefined ? [] : [`r.${column} < ${bind(below)}`]),
    ].join(' and ')
  const row = (condition: string): string =>
    `exists (select 1 from ${table} as r indexed by ${table}_by_born where r.tenant = ?1 and r.born = p.doc and ${condition})`
  return [
    ...(filter.about ? [`p.about in (${filter.about.map(id).join(', ')})`] : []),
    ...(filter.with ?? []).map(posting),
    ...(filter.without?.length ? [`not ${posting(filter.without)}`] : []),
    ...(filter.inside ?? []).map((one) => row(range(one))),
    ...(filter.equals ?? []).map(({ column, value }) => row(`r.${column} is ${bind(value)}`)),
    ...(filter.outside ?? []).map((one) => `p.doc not in (select r.born from ${table} as r where r.tenant = ?1 and ${range(one)})`),
  ]
}
