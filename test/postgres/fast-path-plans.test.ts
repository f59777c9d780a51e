// A commit on a known head finds the rows it changes by their keys, with plans from when there was nothing to find.

import { expect, test } from 'vitest'
import { maker } from '../../src/conformance/material.ts'
import { MAIN } from '../../src/model/ids.ts'
import { tempDatabase } from '../support/engines.ts'
import { asSuperuser } from './logins.ts'
import { until } from './until.ts'
import { item, seqOf, watched } from './watched.ts'

const ROWS = 20_000
const COMMITS = 6

/** Rows that were looked at to insert, change and remove one item, and then two of them, beside all those that are in the way. */
async function lookedAt(change?: (text: string) => string): Promise<number> {
  const url = await tempDatabase()
  const plain: string[] = []
  const backend = await watched(url, (text) => void (text.includes('move_head_v1') && plain.push(text)), change)
  const make = maker()
  await backend.commit([make.commit(MAIN)])
  const once = async () => {
    for (const ids of [['z1'], ['z2', 'z3']]) {
      let revisions = ids.map(() => 0)
      for (const state of ['ready', 'claimed', undefined]) {
        const done = await backend.commit(ids.map((id, i) => item(make, id, revisions[i] ?? 0, state)))
        revisions = done.map(seqOf)
      }
    }
  }
  await once()
  await asSuperuser(url, (superuser) =>
    superuser.query(`
      insert into inkfast.work (tenant, id, born, revision, queue, state, at, priority, body)
      select 'main', 'x' || n, n, n, 'q', 'ready', n, 0, '{}' from generate_series(1, ${ROWS}) n`),
  )
  await once()
  expect(plain).toHaveLength(2 * COMMITS)
  // Told when it ends.
  await backend.close()
  const counted = `select (seq_tup_read + idx_tup_fetch)::integer as seen from pg_stat_user_tables
    where schemaname = 'inkfast' and relname = 'work' and n_tup_del = 6`
  let seen: number | undefined
  await until('the server has counted', async () => {
    const { rows } = await asSuperuser(url, (superuser) => superuser.query(counted))
    seen = rows[0]?.seen
    return seen !== undefined
  })
  return seen as unknown as number
}

test('rows are changed by a look at each, however many there are by now', async () => {
  expect(await lookedAt()).toBeLessThan(60)
})

test('without a range to look in, all rows are gone through: the control', async () => {
  const anywhere = (text: string) => text.replaceAll(/s\.id between (\w)\.id and \w\.id/g, "s.id || '' = $1.id || ''")
  expect(await lookedAt(anywhere)).toBeGreaterThan(ROWS)
})
