// Search by words: one statement over the postings, filters included. Triggers keep the index (see the migration).

import { type TextTable, tableOf } from '../../model/tables.ts'
import type { ColumnRange, TermQuery, TextFilter, TextQuery, Texts } from '../../ports/texts.ts'
import { numbers, texts as textList } from './arrays.ts'
import type { Step, Value } from './connections.ts'
import type { Database } from './database.ts'
import { toStored } from './rows.ts'

const corpus = 'select docs, total from inkfast.corpora where source between $1 and $1 order by source limit 1'
const someTerms = `
  select t.term, t.df, null::text from unnest($2::text[]) as a (term)
  cross join lateral (select b.term, b.df from inkfast.terms b where b.source = $1 and b.term between a.term and a.term order by b.source, b.term limit 1) t`
const byPrefixes = `
  select t.term, t.df, a.prefix from unnest($2::text[], $3::text[], $5::boolean[]) with ordinality as a (prefix, below, always, n)
  cross join lateral (
    select b.term, b.df from inkfast.terms b where b.source = $1 and b.term >= a.prefix collate "C" and b.term < a.below collate "C"
    order by b.df desc, b.term limit $4::integer) t
  where a.always or (
    select k.term from inkfast.terms k where k.source = $1 and k.term between a.prefix and a.prefix order by k.source, k.term limit 1) is null
  order by a.n, t.df desc, t.term`

export function texts(db: Database): Texts {
  return {
    statistics: async (tenant, table, { terms, prefixes = [], beginnings = [], limit = 0 }: TermQuery) => {
      const all = [...prefixes, ...beginnings]
      const steps: Step[] = [
        { text: corpus, values: [table] },
        { text: someTerms, values: [table, textList([...new Set(terms)]) ?? '{}'] },
        {
          text: byPrefixes,
          values: [
            table,
            textList(all) ?? '{}',
            textList(all.map((prefix) => `${prefix}\u{10ffff}`)) ?? '{}',
            limit,
            `{${all.map((_, i) => i < prefixes.length).join(',')}}`,
          ],
        },
      ]
      const [counts = [], found = [], grown = []] = await db.readSmall(tenant, ...steps)
      return {
        rows: Number(counts[0]?.[0] ?? 0),
        length: Number(counts[0]?.[1] ?? 0),
        terms: [...found, ...grown].map(([term, rows, prefix]) => ({
          term: term as string,
          rows: Number(rows),
          ...(prefix !== null && { prefix: prefix as string }),
        })),
      }
    },
    search: async (tenant, table, query) => {
      if (query.terms.length === 0) return []
      const [rows = []] = await db.read(tenant, searchStep(table, query))
      return rows.map(([score, ...row]) => ({ row: toStored(row), score: Number(score) }))
    },
    around: async (tenant, table, places, span) => {
      if (places.length === 0 || !tableOf(table).text?.thread) return []
      const near = (sign: '<' | '>', order: string) =>
        `(select r.thread, r.born, r.id from inkfast.${table} r where r.thread = a.thread and r.born ${sign} a.born and r.terms is not null order by r.thread${order} nulls ${order ? 'last' : 'first'}, r.born${order}, r.id${order} limit $3::integer)`
      // Neighbours are found in the index of threads alone, then each is read once by its key.
      const text = `
        with near as materialized (
          select distinct n.thread, n.born, n.id
          from unnest($1::text[], $2::bigint[]) as a (thread, born)
          cross join lateral (${near('<', ' desc')} union all ${near('>', '')}) n
          where n.born <> all ($2::bigint[])
        )
        select r.id, r.born, r.revision, null::bigint, r.body from near n
        cross join lateral (select s.* from inkfast.${table} s where s.id between n.id and n.id order by s.id limit 1) r
        order by n.thread collate "C", n.born`
      const [rows = []] = await db.read(tenant, {
        text,
        values: [textList(places.map(({ thread }) => thread)), numbers(places.map(({ born }) => born)), span],
      })
      return rows.map(toStored)
    },
  }
}

/** The ids of the words in a parameter. Each word is sought alone: the tables have no statistics, and a join would read all of them. */
const idsOf = (words: string, columns = ''): string => `
  select t.id${columns && `, ${columns}`} from unnest(${words}) as a (term${columns && `, ${columns}`})
  cross join lateral (select b.id from inkfast.terms b where b.source = $1 and b.term between a.term and a.term order by b.source, b.term limit 1) t`

/**
 * `offset 0` keeps the lateral query apart, so that each term is sought in the index of postings, which has all that is needed. Scores are
 * sums of doubles without a fraction, so they are exact in any order.
 */
function searchStep(table: TextTable, { terms, filter, ...query }: TextQuery): Step {
  const values: Value[] = [table, textList(terms.map(({ term }) => term)), `{${terms.map(({ weight }) => weight).join(',')}}`]
  const bind = (value: Value, type = 'double precision'): string => `$${values.push(value)}::${type}`
  const f = `p.tf / (${bind(query.lengthBase)} + ${bind(query.lengthFactor)} * p.len) + p.tf_tags * ${bind(query.tagWeight)} + p.tf_source * ${bind(query.sourceWeight)}`
  const marks = (list: readonly string[]): string => idsOf(bind(textList([...new Set(list)]) ?? '{}', 'text[]'))
  const scope = filter.about && marks(filter.about)
  const where = conditions(table, filter, scope, marks, bind)
  const text = `
    with q (term, weight) as materialized (${idsOf('$2::text[], $3::double precision[]', 'weight')}),
    best as materialized (
      select p.doc, sum(trunc(q.weight * p.f / (p.f + ${bind(query.k1)}))) as score
      from q${scope ? ` cross join (${scope}) as s (about)` : ''}
      cross join lateral (
        select p.doc, ${f} as f from inkfast.postings p
        where p.term = q.term${scope ? ' and p.about = s.about' : ''}${where.map((one) => ` and ${one}`).join('')} offset 0
      ) p
      group by p.doc order by score desc, p.doc limit ${bind(query.limit, 'integer')}
    )
    select b.score::bigint, r.id, r.born, r.revision, null::bigint, r.body from best b
    cross join lateral (select s.* from inkfast.${table} s where s.born between b.doc and b.doc order by s.born, s.id limit 1) r
    order by b.score desc, b.doc`
  return { text, values }
}

/** Conditions on the posting `p`. Postings of marks are looked for in the scope only, if there is one. */
function conditions(
  table: TextTable,
  filter: TextFilter,
  scope: string | undefined,
  marks: (list: readonly string[]) => string,
  bind: (value: Value, type?: string) => string,
): readonly string[] {
  const inScope = scope ? ` and m.about = any (array(${scope}))` : ''
  const posting = (list: readonly string[]): string =>
    `p.doc in (select m.doc from inkfast.postings m where m.term = any (array(${marks(list)}))${inScope})`
  // The parentheses with `is true` keep the planner from a join: the inner list is read once and hashed.
  const once = (condition: string): string => `(${condition}) is true`
  const range = ({ column, from, below }: ColumnRange): string =>
    [
      `r.${column} is not null`,
      ...(from === undefined ? [] : [`r.${column} >= ${bind(from, 'bigint')}`]),
      ...(below === undefined ? [] : [`r.${column} < ${bind(below, 'bigint')}`]),
    ].join(' and ')
  const among = (condition: string): string => `(select r.born from inkfast.${table} r where ${condition})`
  return [
    ...(filter.with ?? []).map((list) => once(posting(list))),
    ...(filter.without?.length ? [`not ${posting(filter.without)}`] : []),
    ...(filter.inside ?? []).map((one) => once(`p.doc in ${among(range(one))}`)),
    ...(filter.equals ?? []).map(({ column, value }) =>
      once(
        `p.doc in ${among(value === null ? `r.${column} is null` : `r.${column} = ${bind(value, typeof value === 'number' ? 'bigint' : 'text')}`)}`,
      ),
    ),
    ...(filter.outside ?? []).map((one) => `p.doc not in ${among(range(one))}`),
  ]
}
