// What workers ask of a file is found by seeks, in the order of an index, however much is in a queue.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { later, tempFolder } from '../../../test/support/engines.ts'
import { findBeyond } from './commit.ts'
import { openDatabase } from './open.ts'
import { workStatements } from './queries.ts'

const series = ['CORRELATED SCALAR SUBQUERY', 'SEARCH e USING INDEX work_by_series (tenant=? AND series=? AND born<?)']

const plans: Readonly<Record<keyof typeof workStatements, readonly string[]>> = {
  nextPriority: ['SEARCH w USING COVERING INDEX work_by_turn (tenant=? AND queue=? AND priority<?)'],
  readyOf: ['SEARCH w USING INDEX work_by_turn (tenant=? AND queue=? AND priority=? AND at<?)', ...series],
  lapsed: [
    'SEARCH w USING INDEX work_by_ready (tenant=? AND queue=? AND state=? AND priority>?)',
    'CORRELATED SCALAR SUBQUERY',
    'SEARCH r USING PRIMARY KEY (tenant=? AND id=?)',
    ...series,
  ],
  nextTime: ['SEARCH w USING COVERING INDEX work_by_due (tenant=? AND queue=? AND at>?)'],
  overdueQueues: [
    'CO-ROUTINE names',
    'SETUP',
    'SEARCH w USING COVERING INDEX work_by_due (tenant=? AND queue>?)',
    'RECURSIVE STEP',
    'SCAN names',
    'CORRELATED SCALAR SUBQUERY',
    'SEARCH w USING COVERING INDEX work_by_due (tenant=? AND queue>?)',
    'SCAN names',
    'CORRELATED SCALAR SUBQUERY',
    'SEARCH w USING COVERING INDEX work_by_due (tenant=? AND queue=? AND at>?)',
    'CORRELATED SCALAR SUBQUERY',
    'SEARCH w USING COVERING INDEX work_by_due (tenant=? AND queue=? AND at>?)',
  ],
  backlogs: ['SEARCH work USING COVERING INDEX work_by_ready (tenant=? AND queue>?)'],
}

async function planner(): Promise<(sql: string) => readonly string[]> {
  const db = await openDatabase(join(tempFolder(), 'store.db'), () => 0)
  later(async () => db.close())
  return (sql) => db.all(`explain query plan ${sql}`).map(({ detail }) => String(detail).replace(/SUBQUERY \d+/, 'SUBQUERY'))
}

test('every statement about work seeks, and none sorts', async () => {
  const planOf = await planner()
  for (const [name, sql] of Object.entries(workStatements)) expect([name, planOf(sql)]).toEqual([name, plans[name as keyof typeof plans]])
})

test('the control: an order that the index does not have is seen to be sorted, and a column that is reckoned with is not sought', async () => {
  const planOf = await planner()
  expect(planOf(workStatements.readyOf.replace('order by w.at, w.born', 'order by w.at, w.id'))).toContainEqual(
    expect.stringMatching(/TEMP B-TREE/),
  )
  expect(planOf(workStatements.readyOf.replace('w.at <= ?', 'w.at + 0 <= ?'))).not.toContainEqual(expect.stringMatching(/ at</))
})

test('an earlier sending is looked up by the id of its event', async () => {
  expect((await planner())(findBeyond)).toEqual(['SEARCH events USING INDEX events_by_id (tenant=? AND id=?)'])
})
