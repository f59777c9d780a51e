// The stored times of queues in a file: what a look reads with 20,000 tenants, what an offer writes, and that a raise never hides an item that
// another process offers.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { later, openIn, tempFolder } from '../../../test/support/engines.ts'
import { findDue } from '../../model/due.ts'
import { type TenantId, tenantId } from '../../model/ids.ts'
import type { Database } from './database.ts'
import { dueStatements, raiseDue, readDue } from './due.ts'
import { openDatabase } from './open.ts'

const TENANTS = 20_000
const PAGE = 100
const ACME = tenantId('acme')

async function opened(path = join(tempFolder(), 'store.db')): Promise<Database> {
  const db = await openDatabase(path, () => 0)
  later(async () => db.close())
  return db
}

/** Counts the rows that a look is given. Each is one entry of `due` with one seek in `heads` and one in `work`. */
async function rowsSeen(db: Database, queue: string): Promise<number> {
  let seen = 0
  const read = async (after: Parameters<typeof readDue>[2], most: number) => {
    const page = readDue(db, queue, after, most)
    seen += page.length
    return page
  }
  await findDue({ read }, PAGE)
  return seen
}

const fill = (db: Database): void =>
  db.exec(`
    begin;
    with recursive n (n) as (select 1 union all select n + 1 from n where n < ${TENANTS})
    insert into heads (tenant, seq, hash) select 't' || n, 1, x'' from n;
    insert into work (tenant, id, born, revision, queue, at, body) select tenant, 'a', 1, 1, 'full', rowid_of, '{}'
    from (select tenant, cast(substr(tenant, 2) as integer) as rowid_of from heads);
    commit`)

const plansOf = (db: Database, sql: string): readonly string[] =>
  db.all(`explain query plan ${sql}`).map(({ detail }) => String(detail).replace(/SUBQUERY \d+/, 'SUBQUERY'))

test('a look reads nothing with 20,000 tenants and an empty queue, and a page of entries otherwise', async () => {
  const db = await opened()
  fill(db)
  expect(plansOf(db, dueStatements.storedDue)).toEqual([
    'SEARCH d USING COVERING INDEX due_by_time (queue=? AND (at,tenant)>(?,?))',
    'CORRELATED SCALAR SUBQUERY',
    'SEARCH h USING PRIMARY KEY (tenant=?)',
    'CORRELATED SCALAR SUBQUERY',
    'SEARCH w USING COVERING INDEX work_by_due (tenant=? AND queue=? AND at>?)',
  ])
  expect(await rowsSeen(db, 'empty')).toBe(0)
  expect(await rowsSeen(db, 'full')).toBeLessThan(PAGE + 20)
  // The control: a plan that looks into each tenant is seen to scan.
  expect(plansOf(db, dueStatements.storedDue.replace('d.queue = ?', "d.queue || '' = ?"))).toContainEqual(expect.stringMatching(/^SCAN d/))
})

test('the stored times that are wrong are raised together, and the next look passes none of them', async () => {
  const db = await opened()
  fill(db)
  db.exec('delete from work where at <= 5000')
  const raised: number[] = []
  const read = async (after: Parameters<typeof readDue>[2], most: number) => readDue(db, 'full', after, most)
  const raise = async (early: readonly TenantId[]) => {
    raised.push(early.length)
    raiseDue(db, 'full', early)
  }
  // A store that may not raise tells them too early, and as many as were asked for.
  expect((await findDue({ read }, PAGE)).map(({ at }) => at)).toEqual(Array.from({ length: PAGE }, (_, n) => n + 1))
  expect((await findDue({ read, raise }, PAGE)).map(({ at }) => at)).toEqual(Array.from({ length: PAGE }, (_, n) => 5001 + n))
  expect(raised.length).toBeGreaterThan(2)
  expect(await rowsSeen(db, 'full')).toBeLessThan(PAGE + 20)
})

test('an offer writes the time of its queue only if it is earlier, and a claim and a completion never', async () => {
  const db = await opened()
  const offer = (id: string, at: number) =>
    db.run(`insert into work (tenant, id, born, revision, queue, at, body) values ('acme', ?, 1, 1, 'q', ?, '{}')`, id, at)
  const changesOf = (write: () => void): number => {
    const total = () => db.get('select total_changes() as n')?.n as number
    const before = total()
    write()
    return total() - before
  }
  expect(changesOf(() => offer('a', 500))).toBe(2)
  expect(changesOf(() => offer('b', 500))).toBe(1)
  expect(changesOf(() => offer('c', 600))).toBe(1)
  expect(changesOf(() => db.run(`update work set at = 30600 where id = 'c'`))).toBe(1)
  expect(changesOf(() => db.run(`delete from work where id = 'c'`))).toBe(1)
  expect(changesOf(() => offer('d', 400))).toBe(2)
  expect(changesOf(() => db.run(`update work set at = 300 where id = 'b'`))).toBe(2)
})

/** A node looks, then another process offers an item whose time is stored early enough; then the node raises, by `raise`. */
async function lookOfferRaise(raise: (node: Database) => void): Promise<readonly unknown[]> {
  const path = join(tempFolder(), 'store.db')
  const [node, other] = [await opened(path), await opened(path)]
  node.exec(`
    insert into heads (tenant, seq, hash) values ('acme', 1, x'');
    insert into work (tenant, id, born, revision, queue, at, body) values ('acme', 'a', 1, 1, 'q', 10, '{}');
    delete from work`)
  expect(readDue(node, 'q', { at: -1, tenant: ACME }, 9)).toEqual([{ tenant: ACME, at: 10, next: undefined }])
  other.exec(`insert into work (tenant, id, born, revision, queue, at, body) values ('acme', 'b', 2, 2, 'q', 20, '{}')`)
  raise(node)
  return (await findDue({ read: async (after, most) => readDue(other, 'q', after, most) }, 9)).map(({ tenant, at }) => [tenant, at])
}

test('a raise looks again under the write lock, and the control that trusts its look loses an item', async () => {
  expect(await lookOfferRaise((node) => raiseDue(node, 'q', [ACME]))).toEqual([['acme', 20]])
  expect(await lookOfferRaise((node) => node.run(dueStatements.drop, ACME, 'q'))).toEqual([])
})

test('a rebuild makes the stored times again, whatever had become of them', async () => {
  const path = join(tempFolder(), 'store.db')
  const store = await openIn(path)
  await store.queue('q').offer({ n: 1 }, { delay: '1h' })
  await store.queue('r').offer({ n: 2 })
  const db = await opened(path)
  const stored = () => db.all('select queue, at from due order by queue, at')
  const sound = stored()
  expect(sound).toHaveLength(2)
  db.exec(`update due set at = at + 5; insert into due values ('main', 'none', 1)`)
  expect(await store.rebuild({ check: true })).toMatchObject({ equal: true })
  expect(stored()).toHaveLength(3)
  expect(await store.rebuild()).toMatchObject({ equal: true })
  expect(stored()).toEqual(sound)
})
