// Maintenance of the database: snapshots, rebuilt rows, size and soundness.

import { randomBytes } from 'node:crypto'
import { fromHex, sameBytes } from '../../model/bytes.ts'
import { refuse } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import { type TableName, tableNames, tableOf } from '../../model/tables.ts'
import { everyTenant, tenantPages } from '../../model/tenant-pages.ts'
import type { BackendHealth, Scratch, Upkeep } from '../../ports/upkeep.ts'
import { texts } from './arrays.ts'
import { checkDatabase } from './check.ts'
import type { Database, Held } from './database.ts'
import { headFrom, headStep, journalReads, readPage } from './journal.ts'
import { textAt, textPieces } from './pieces.ts'
import { scanRows } from './rows.ts'
import { rowsByAge, scratch } from './scratch.ts'
import { STORE } from './wall.ts'

const clearIndex = [
  'delete from inkfast.postings where term in (select id from inkfast.terms where source = $1)',
  'delete from inkfast.terms where source = $1',
  'delete from inkfast.corpora where source = $1',
]
const SECRET_BYTES = 32
// Tenants whose receipts are swept in one round trip.
const SWEPT_TOGETHER = 50
const ROWS_AT_A_TIME = 500

const picture = 'begin isolation level repeatable read read only'
const lockHead = `select seq, encode(hash, 'hex'), state from inkfast.heads for update`
const remakeDue = 'select inkfast.make_due_v1()'
const findSecret = `select encode(value, 'hex') from inkfast.secrets where name = $1`
const keepSecret = 'insert into inkfast.secrets (name, value) values ($1, $2) on conflict (name) do nothing'
const sweeps = [
  'with swept as (delete from inkfast.receipts where at < $1::numeric returning 1) select count(*) from swept',
  'delete from inkfast.renewals where until < $1::numeric',
]
const scanReceipts = `
  select encode(key, 'hex'), seq, count, encode(body, 'hex'), at, encode(digest, 'hex') from inkfast.receipts
  where key > $1::bytea order by key limit $2::integer`
const sizes = `
  select c.relname, pg_total_relation_size(c.oid) from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'inkfast' and c.relkind = 'r' order by 1`

export interface UpkeepParts {
  readonly db: Database
  readonly health: () => Promise<BackendHealth>
}

export function upkeep({ db, health }: UpkeepParts): Upkeep {
  const journal = journalReads(db)
  const counted = ['events', 'receipts', 'heads', 'nodes', 'blobs', ...tableNames]
  return {
    snapshot: async (tenant) => {
      const held = await db.hold(tenant, picture)
      // The first statement after `begin` takes the snapshot, and that was the one that entered the tenant.
      const head = await held.run(headStep).then(
        ([rows]) => headFrom(rows),
        async (error: unknown) => {
          await held.rollback()
          throw error
        },
      )
      return {
        journal: {
          head: async () => head,
          page: (_, query) => readPage(held.run, query),
          tenants: async () => [tenant],
        },
        rows: (table, after, limit) => scanRows(held.run, table, after, limit),
        close: () => held.rollback(),
      }
    },
    scratch: async () => scratch(),
    adopt: async (tenant, folded, head) => {
      db.checkWritable()
      const held = await db.holdWhatever(tenant, 'begin')
      try {
        const now = headFrom((await held.run({ text: lockHead }))[0])
        if (now.seq !== head.seq || !sameBytes(now.hash, head.hash)) {
          await held.rollback()
          return false
        }
        for (const table of tableNames.filter((name) => tableOf(name).authority === 'journal'))
          await replaceRows(held, tenant, table, folded)
        await held.run({ text: remakeDue })
      } catch (error) {
        await held.rollback()
        throw error
      }
      await held.commit()
      return true
    },
    remakeDue: async (tenant) => {
      if (db.readOnly) return
      await db.run([db.enter(db.wall.tenant(tenant)), { text: remakeDue }], 'reading')
    },
    check: () => checkDatabase(db),
    measure: async () => {
      const [tables = []] = await db.read(STORE, { text: sizes })
      const rows = Object.fromEntries(counted.map((name) => [name, 0]))
      const counts = counted.map((name) => `(select count(*) from inkfast.${name})`).join(', ')
      for await (const tenant of everyTenant(journal.tenants)) {
        const [answer] = await db.readWhatever(tenant, { text: `select ${counts}` })
        counted.forEach((name, i) => {
          rows[name] = (rows[name] ?? 0) + Number(answer?.[0]?.[i])
        })
      }
      return { bytes: Object.fromEntries(tables.map(([name, bytes]) => [name as string, Number(bytes)])), rows }
    },
    health,
    receipts: async (tenant, after, limit) => {
      const values = [after ?? new Uint8Array(0), limit]
      const [rows = []] = await db.readWhileOpen(tenant, { text: scanReceipts, values, prepared: true })
      return rows.map(([key, seq, count, body, at, digest]) => ({
        key: fromHex(key as string),
        seq: Number(seq),
        count: Number(count),
        body: fromHex(body as string),
        at: Number(at),
        digest: fromHex(digest as string),
      }))
    },
    sweepReceipts: async (before) => {
      db.checkWritable()
      let swept = 0
      for await (const page of tenantPages(journal.tenants, { limit: SWEPT_TOGETHER })) {
        const steps = page.flatMap((tenant) => [
          db.enter(db.wall.whatever(tenant)),
          ...sweeps.map((text) => ({ text, values: [before], prepared: true })),
        ])
        const answers = await db.run(steps, 'reading')
        for (const i of page.keys()) swept += Number(answers[i * (sweeps.length + 1) + 1]?.[0]?.[0])
      }
      return swept
    },
    // The server keeps no side file that a user could read. The operating page covers vacuum and backups.
    scrub: async () => {},
    secret: async (name) => {
      // Nothing is masked in a read-only store, and its role may not read the secrets.
      if (db.readOnly) return randomBytes(SECRET_BYTES)
      const find = { text: findSecret, values: [name] }
      const [known] = await db.read(STORE, find)
      if (known?.[0]?.[0]) return fromHex(known[0][0])
      const [, kept] = await db.read(STORE, { text: keepSecret, values: [name, randomBytes(SECRET_BYTES)] }, find)
      const value = kept?.[0]?.[0]
      if (!value) throw refuse('BACKEND_FAILED', { reason: `the secret ${name} could not be stored` })
      return fromHex(value)
    },
  }
}

async function replaceRows(held: Held, tenant: TenantId, table: TableName, folded: Scratch): Promise<void> {
  const { columns, fenced } = tableOf(table)
  const names = Object.keys(columns)
  // The triggers make the word index again, from nothing.
  if (tableOf(table).text) for (const text of clearIndex) await held.run({ text, values: [table] })
  await held.run({ text: `delete from inkfast.${table}` })
  const all = ['tenant', 'id', 'born', 'revision', ...(fenced ? ['fence'] : []), ...names, 'body']
  const picked = names.map((name, i) => `(r.columns::json ->> ${i})${columns[name] === 'integer' ? '::bigint' : ''}`)
  const text = `insert into inkfast.${table} (${all.join(', ')})
    select $1, r.id, r.born, r.revision, ${[...(fenced ? ['r.fence'] : []), ...picked, textAt('$9::bytea', 'r.body_from', 'r.body_size')].join(', ')}
    from unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::integer[], $8::integer[])
      as r (id, born, revision, fence, columns, body_from, body_size)`
  for (const rows of rowsByAge(folded, table, ROWS_AT_A_TIME)) {
    const numbers = (pick: (row: (typeof rows)[number]) => number | undefined) => `{${rows.map((row) => pick(row) ?? 'NULL').join(',')}}`
    const bodies = textPieces(rows.map((row) => row.body))
    const values = [
      tenant,
      texts(rows.map((row) => row.id)),
      numbers((row) => row.born),
      numbers((row) => row.revision),
      numbers((row) => row.fence),
      texts(rows.map((row) => JSON.stringify(row.columns))),
      bodies.from,
      bodies.size,
      bodies.bytes,
    ]
    await held.run({ text, values })
  }
}
