// The stored times of queues: what a look reads with 20,000 tenants, what an offer writes, and that a raise never hides an item that is being
// offered.

import { Client } from 'pg'
import { expect, test } from 'vitest'
import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { enter } from '../../src/backends/postgres/database.ts'
import { STORE, type Wall } from '../../src/backends/postgres/wall.ts'
import { maker, put } from '../../src/conformance/material.ts'
import { type TenantId, tenantId } from '../../src/model/ids.ts'
import type { Change } from '../../src/ports/commit.ts'
import { preparedDatabase } from '../support/databases.ts'
import { later, openIn } from '../support/engines.ts'
import { asSuperuser } from './logins.ts'
import { wallOf } from './tenants.ts'

const TENANTS = 20_000
const PAGE = 100

const emptyStore = async (url: string): Promise<void> => (await postgresBackend({ url })).close()

/** A connection of its own, with the wall to enter tenants. */
async function connected(url: string): Promise<{ readonly client: Client; readonly wall: Wall }> {
  const client = new Client(url)
  await client.connect()
  later(() => client.end())
  return { client, wall: await wallOf(client) }
}

const begin = async ({ client, wall }: Awaited<ReturnType<typeof connected>>, who: TenantId | typeof STORE): Promise<void> => {
  const { text, values } = enter(wall.tenant(who))
  await client.query('begin; set local role inkfast_app')
  await client.query(text, [...(values ?? [])])
}

/** Entries of tables and indexes that this transaction has read so far. */
const readSoFar = `
  select coalesce(sum(pg_stat_get_xact_tuples_returned(c.oid)), 0)::integer as read from pg_class c
  where c.relnamespace = 'inkfast'::regnamespace and c.relkind in ('r', 'i') and c.relname ~ '^(heads|work|due)'`

test('a look reads less than a hundred rows with 20,000 tenants and an empty queue, and a page one item a tenant', async () => {
  const { url } = await preparedDatabase(emptyStore)
  const node = await connected(url)
  const look = async (queue: string, limit: number) => {
    await begin(node, STORE)
    const [before] = (await node.client.query(readSoFar)).rows
    const { rows } = await node.client.query(`select * from inkfast.due_v1('${queue}', -1, '', ${limit})`)
    const [after] = (await node.client.query(readSoFar)).rows
    await node.client.query('rollback')
    return { found: rows.length, read: after.read - before.read }
  }
  // Often enough that the server keeps the plan that it made for empty tables.
  for (let n = 0; n < 10; n++) expect((await look('q', PAGE)).found).toBe(0)
  await asSuperuser(url, async (superuser) => {
    await superuser.query(`insert into inkfast.heads (tenant, seq, hash) select 't' || t, 1, '' from generate_series(1, ${TENANTS}) t`)
    await superuser.query(`
      insert into inkfast.work (tenant, id, born, revision, queue, at, body)
      select 't' || t, n::text, n, n, 'full', case when n % 2 = 0 then n + t end, '{}' from generate_series(1, ${TENANTS}) t, generate_series(1, 4) n`)
  })
  expect(await look('q', PAGE)).toEqual({ found: 0, read: 0 })
  const page = await look('full', PAGE)
  expect(page.found).toBe(PAGE)
  // Of each: its stored time, its head and its first item, in the index and in the table.
  expect(page.read).toBeLessThanOrEqual(6 * PAGE)
  // The control: a look into each tenant is seen to read them all.
  const every = await asSuperuser(url, async (superuser) => {
    await superuser.query('begin')
    await superuser.query('select h.tenant, (select min(w.at) from inkfast.work w where w.tenant = h.tenant) from inkfast.heads h')
    const { rows } = await superuser.query(readSoFar)
    await superuser.query('rollback')
    return rows[0].read as number
  })
  expect(every).toBeGreaterThan(TENANTS)
})

test('an offer writes the time of its queue only if it is earlier, and a claim and a completion never', async () => {
  const { url } = await preparedDatabase(emptyStore)
  const backend = await postgresBackend({ url })
  later(() => backend.close())
  const make = maker(1)
  const acme = tenantId('acme')
  let revision = 0
  const save = async (change: Change, before = 0): Promise<void> => {
    const guards = 'table' in change ? [{ kind: 'row', table: change.table, id: change.id, revision: before } as const] : []
    const [outcome] = await backend.commit([make.commit(acme, { guards, changes: [change] })])
    if (!outcome?.ok) throw new Error('the commit was refused')
    revision = outcome.receipts[0]?.seq ?? 0
  }
  const { client } = await connected(url)
  const written = async (what: () => Promise<void>): Promise<boolean> => {
    const stamp = async () => (await client.query(`select xmin::text, xmax::text, ctid::text, at from inkfast.due where queue = 'q'`)).rows
    const before = await stamp()
    await what()
    return JSON.stringify(await stamp()) !== JSON.stringify(before)
  }
  const offer = (id: string, at: number) => () => save(put('work', id, { queue: 'q', state: 'ready', at }))
  expect(await written(offer('a', 500))).toBe(true)
  // By the commit function first, then by the fast path: neither writes the row, and neither locks it.
  for (const id of ['b', 'c', 'd']) expect(await written(offer(id, 500))).toBe(false)
  expect(await written(offer('e', 600))).toBe(false)
  const offered = revision
  expect(await written(() => save(put('work', 'e', { queue: 'q', state: 'claimed', at: 30_600 }), offered))).toBe(false)
  expect(await written(() => save({ kind: 'remove', table: 'work', id: 'e' }, revision))).toBe(false)
  expect(await written(offer('f', 499))).toBe(true)
  expect(await written(offer('g', 499))).toBe(false)
  // A retry that is due earlier than anything else lowers it too.
  const last = revision
  expect(await written(() => save(put('work', 'g', { queue: 'q', state: 'ready', at: 400 }), last))).toBe(true)
  expect(await backend.queries.due('q', 1)).toEqual([{ tenant: acme, at: 400 }])
})

/** The same function, which looks before it has the head. */
const unguarded = `
  do $$ begin
    execute replace(replace(pg_get_functiondef('inkfast.raise_due_v1'::regproc), 'for no key update skip locked', ''),
      'update inkfast.heads h set seq = h.seq where h.tenant between v_tenant and v_tenant;', '');
  end $$`

/** A tenant with a stored time that is early enough, in which nothing is due; an item is being offered while a node raises the time. */
async function offerAndRaise(spoil?: string): Promise<readonly unknown[]> {
  const { url } = await preparedDatabase(emptyStore)
  const acme = tenantId('acme')
  const backend = await postgresBackend({ url })
  later(() => backend.close())
  const make = maker(2)
  await backend.commit([make.commit(acme, { changes: [put('work', 'a', { queue: 'q', at: 10 })] })])
  await backend.commit([make.commit(acme, { changes: [{ kind: 'remove', table: 'work', id: 'a' }] })])
  if (spoil !== undefined) await asSuperuser(url, (superuser) => superuser.query(spoil))
  const [writer, node] = [await connected(url), await connected(url)]
  await begin(writer, acme)
  const { rows } = await writer.client.query(`select seq, hash from inkfast.heads`)
  const { seq, hash } = rows[0]
  const moved = await writer.client.query('select inkfast.move_head_v1($1, $2, $3, $4, $5) as tenant', [
    'acme',
    seq,
    hash,
    Number(seq) + 1,
    hash,
  ])
  expect(moved.rows).toEqual([{ tenant: 'acme' }])
  await writer.client.query(
    `insert into inkfast.work (tenant, id, born, revision, queue, at, body) values ('acme', 'b', 9, 9, 'q', 20, '{}')`,
  )
  // The node waits for nobody: the offer is still open when its raise is over.
  await begin(node, acme)
  await node.client.query(`select inkfast.raise_due_v1('q')`)
  await node.client.query('commit')
  await writer.client.query('commit')
  return (await backend.queries.due('q', 10)).map(({ tenant, at }) => [tenant, at])
}

test('a raise passes a tenant in which an item is being offered, and the control without the guard loses it', async () => {
  expect(await offerAndRaise()).toEqual([['acme', 20]])
  expect(await offerAndRaise(unguarded)).toEqual([])
})

test('a tenant can neither raise nor lower what is due in another', async () => {
  const { url } = await preparedDatabase(emptyStore)
  const [acme, rival] = [tenantId('acme'), tenantId('rival')]
  const backend = await postgresBackend({ url })
  later(() => backend.close())
  const make = maker(3)
  for (const tenant of [acme, rival]) await backend.commit([make.commit(tenant, { changes: [put('work', 'a', { queue: 'q', at: 10 })] })])
  const node = await connected(url)
  const denied = async (sql: string): Promise<string> => {
    await begin(node, rival)
    const code = await node.client.query(sql).then(
      ({ rowCount }) => `${rowCount} rows`,
      (error: { code: string }) => error.code,
    )
    await node.client.query('rollback')
    return code
  }
  expect(await denied(`select from inkfast.due`)).toBe('1 rows')
  expect(await denied(`select from inkfast.due where tenant = 'acme'`)).toBe('0 rows')
  for (const sql of ['update inkfast.due set at = 99', 'delete from inkfast.due', `insert into inkfast.due values ('rival', 'x', 1)`])
    expect(await denied(sql)).toBe('42501')
  for (const call of [`lower_due('acme', 'q', 1)`, `make_due('acme')`]) expect(await denied(`select inkfast.${call}`)).toBe('42501')
  // Its own is set to the truth, which changes nothing.
  expect(await denied(`select inkfast.raise_due_v1('q'), inkfast.make_due_v1()`)).toBe('1 rows')
  expect(await backend.queries.due('q', 10)).toEqual([acme, rival].map((tenant) => ({ tenant, at: 10 })))
})

test('a rebuild makes the stored times again, whatever had become of them', async () => {
  const { url } = await preparedDatabase(emptyStore)
  const store = await openIn(url)
  await store.queue('q').offer({ n: 1 }, { delay: '1h' })
  await store.queue('r').offer({ n: 2 })
  const asOwner = (sql: string) => asSuperuser(url, async (superuser) => (await superuser.query(sql)).rows)
  const stored = () => asOwner('select queue, at from inkfast.due order by queue, at')
  const sound = await stored()
  expect(sound).toHaveLength(2)
  await asOwner('update inkfast.due set at = at + 5')
  await asOwner(`insert into inkfast.due values ('main', 'none', 1)`)
  expect(await store.rebuild({ check: true })).toMatchObject({ equal: true })
  expect(await stored()).toHaveLength(3)
  expect(await store.rebuild()).toMatchObject({ equal: true })
  expect(await stored()).toEqual(sound)
})
