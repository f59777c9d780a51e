// Search by words and the triggers that keep its index seek what they need, however many texts and terms a tenant has.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { later, tempFolder } from '../../../test/support/engines.ts'
import { MAIN } from '../../model/ids.ts'
import type { TextFilter } from '../../ports/texts.ts'
import type { Database } from './database.ts'
import { openDatabase } from './open.ts'
import { texts } from './texts.ts'

async function opened(): Promise<Database> {
  const db = await openDatabase(join(tempFolder(), 'store.db'), () => 0)
  later(async () => db.close())
  return db
}

const planOf = (
  db: Database,
  sql: string,
  ...values: Parameters<Database['get']> extends [string, ...infer V] ? V : never
): readonly string[] => db.all(`explain query plan ${sql}`, ...values).map(({ detail }) => String(detail))

/** Steps that read all of a tenant, or all of a table. Values, JSON texts and common table expressions are scanned; `corpora` has one row a source. */
const slow = (plan: readonly string[]): readonly string[] =>
  plan.filter(
    (step) => /^SEARCH (?!corpora).*\(tenant=\?( AND source=\?)?\)$/.test(step) || /^SCAN (terms|postings|memory|[tpmra])\b/.test(step),
  )

const filters: readonly TextFilter[] = [
  {},
  { about: ['@user/ada'] },
  { with: [['#a', '#b'], ['%fact']], without: ['~superseded'] },
  { inside: [{ column: 'at', from: 5, below: 9 }], outside: [{ column: 'expires', below: 7 }] },
  { equals: [{ column: 'state', value: 'active' }] },
]

test('a search by words seeks terms, postings and rows', async () => {
  const db = await opened()
  const plans: (readonly string[])[] = []
  const spied: Database = {
    ...db,
    all: (sql, ...values) => {
      if (sql.includes('with q')) plans.push(planOf(db, sql, ...values))
      return db.all(sql, ...values)
    },
  }
  const scoring = { k1: 0.9, lengthBase: 0.7, lengthFactor: 0.1, tagWeight: 0.5, sourceWeight: 0.3, limit: 200 }
  for (const filter of filters) await texts(spied).search(MAIN, 'memory', { terms: [{ term: 'ada', weight: 1 }], ...scoring, filter })
  expect(plans).toHaveLength(filters.length)
  for (const plan of plans)
    expect([slow(plan), plan.some((step) => step.includes('memory_by_born (tenant=? AND born=?)'))]).toEqual([[], true])
})

/** The statements of a trigger, with texts in place of the rows that it is given. */
function statementsOf(db: Database, trigger: string): readonly string[] {
  const sql = db.get(`select sql from sqlite_schema where type = 'trigger' and name = ?`, trigger)?.sql as string
  const body = sql.slice(sql.indexOf('begin') + 'begin'.length, sql.lastIndexOf('end'))
  return body
    .replace(/\b(?:new|old)\.terms\b/g, `'{"t":[["ada",1,0,0]],"l":1,"a":"@shared"}'`)
    .replace(/\b(?:new|old)\.\w+\b/g, '?1')
    .split(';')
    .filter((statement) => statement.trim() !== '')
}

test.each(['memory_words_come', 'memory_words_go', 'memory_words_change'])('the trigger %s seeks terms and postings', async (trigger) => {
  const db = await opened()
  const statements = statementsOf(db, trigger)
  expect(statements.length).toBeGreaterThanOrEqual(3)
  for (const statement of statements) {
    const plan = statement.includes('?1') ? planOf(db, statement, 1) : planOf(db, statement)
    expect([statement, slow(plan)]).toEqual([statement, []])
  }
})

test('the control: a join whose order the planner chooses reads all terms of the tenant, and is seen', async () => {
  const db = await opened()
  const [, postings = ''] = statementsOf(db, 'memory_words_come')
  expect(slow(planOf(db, postings.replaceAll('cross join', 'join'), 1))).not.toEqual([])
})
