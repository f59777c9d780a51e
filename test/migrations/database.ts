// The same store as stored.ts writes, in a database: kept as text, and made again from it. What a server adds by its own clock or by
// chance is left out.

import type { PGlite } from '@electric-sql/pglite'
import { backendOn } from '../../src/backends/postgres/backend.ts'
import { migrate, migrations } from '../../src/backends/postgres/migrate.ts'
import { openOver } from '../../src/backends/postgres/open.ts'
import { pooled } from '../../src/backends/postgres/pool.ts'
import { sha256 } from '../../src/conformance/material.ts'
import { fromHex, hex } from '../../src/model/bytes.ts'
import { receiptDigest } from '../../src/model/chain.ts'
import { tableNames } from '../../src/model/tables.ts'
import { liteConnections } from '../support/pglite.ts'
import { START, type Stored, type Value, writeStore } from './stored.ts'

type Row = Readonly<Record<string, Value>>

// The others are filled by opening: the history of migrations, the key of the wall, the clock.
const KEPT: readonly string[] = ['events', 'heads', 'receipts', ...tableNames].sort()

/** A little of everything, written inside this process. */
export async function databaseStored(lite: PGlite): Promise<Stored> {
  const options = { url: 'postgres://pglite', durability: 'normal' } as const
  const connections = liteConnections(lite)
  const receipts = await writeStore({ backend: backendOn(await openOver(options, connections), options) })
  // The store may still be reading when it is closed. Inside its transaction, these queries would see one tenant only.
  const connection = await connections.acquire()
  const tables: Record<string, readonly Row[]> = {}
  for (const name of KEPT) {
    const { rows } = await lite.query<{ row: Row }>(
      `select row_to_json(t) as row from inkfast.${name} t order by row_to_json(t)::text collate "C"`,
    )
    tables[name] = rows
      .map(({ row }) => row)
      .filter(({ tenant }) => !String(tenant).startsWith('~'))
      .map(withoutClock(name))
  }
  connection.release()
  return { schema: migrations.at(-1)?.number ?? 0, receipts, tables }
}

const withoutClock =
  (table: string) =>
  (row: Row): Row =>
    table === 'receipts' ? { ...row, at: START, digest: digestOf({ ...row, at: START }) } : row

function digestOf({ tenant, key, seq, count, body, at }: Row): string {
  const bytes = (value: Value | undefined) => fromHex(String(value).slice(2))
  const receipt = { key: bytes(key), seq: Number(seq), count: Number(count), body: bytes(body), at: Number(at) }
  return `\\x${hex(receiptDigest(sha256, String(tenant), receipt))}`
}

/** The database as it was then: the migrations of its time, then its rows. */
export async function restoreDatabase(url: string, stored: Stored): Promise<void> {
  const connections = pooled({ url, connections: 1 })
  const connection = await connections.acquire()
  try {
    const steps = migrations.filter(({ number }) => number <= stored.schema)
    await migrate(connection, { place: connections.place, now: () => START, steps })
    const there = `select relname from pg_class where relnamespace = 'inkfast'::regnamespace and relkind in ('r', 'p')`
    const [names = []] = await connection.run([{ text: there }], 10_000)
    const guard = (how: string) => connection.script(`alter table inkfast.events ${how} trigger events_by_commit`)
    await guard('disable')
    for (const [table, rows] of Object.entries(stored.tables).filter(([name]) => names.some(([one]) => one === name))) {
      const text = `insert into inkfast.${table} select * from json_populate_recordset(null::inkfast.${table}, $1::json)`
      await connection.run([{ text, values: [JSON.stringify(rows)] }], 10_000)
    }
    await guard('enable')
  } finally {
    connection.release()
    await connections.close()
  }
}
