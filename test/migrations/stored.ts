// A store as one version left it, kept as text: every row of every table, so that later versions can be shown to read it. Always the
// same bytes for the same code, because time and chance are given.

import { createHash } from 'node:crypto'
import { connect, type Database } from '../../src/backends/sqlite/database.ts'
import { APPLICATION_ID, migrations } from '../../src/backends/sqlite/migrate.ts'
import { type Entropy, open, type Receipt, type StoreOptions } from '../../src/index.ts'

export type Value = string | number | null | { readonly hex: string }

export interface Stored {
  /** The last migration that was applied. */
  readonly schema: number
  readonly receipts: readonly Receipt[]
  readonly tables: Readonly<Record<string, readonly Readonly<Record<string, Value>>[]>>
}

export const START = Date.UTC(2026, 0, 1)
export const KEY = 'a key for tags that stays the same'

/** Bytes that look random and are the same every time. */
function counted(): Entropy {
  let draws = 0
  return {
    bytes: (count) => {
      const bytes = new Uint8Array(count)
      for (let at = 0; at < count; at += 32) {
        const block = createHash('sha256').update(`${draws++}`).digest()
        bytes.set(block.subarray(0, Math.min(32, count - at)), at)
      }
      return bytes
    },
  }
}

/** Writes a little of everything: sessions in every state, keys, an erasure, a second tenant. */
export async function writeStore(place: string | Pick<StoreOptions, 'backend'>): Promise<readonly Receipt[]> {
  // The clock moves between steps only: how often it is looked at depends on how quick the machine is.
  let now = START
  const clock = { now: () => now }
  const later = () => {
    now += 1000
  }
  const where = typeof place === 'string' ? { url: place } : place
  await using store = await open({ ...where, clock, entropy: counted(), redactKey: KEY })
  const support = await store.as('user_1').session('support/4711', { title: 'Order 4711', owner: 'user_1', metadata: { from: 'mail' } })
  later()
  const called = await support.append('tool.called', { tool: 'orders', call: 'c1', arguments: { order: 4711, password: 'correct horse' } })
  later()
  const returned = await support.append('tool.returned', { call: 'c1', result: 'ü 漢 🖋' }, { cause: called.id, key: 'req-1' })
  later()
  const personal = await support.append('note.taken', { text: 'lives by the harbour' })
  later()
  await support.rename('Order 4711, shipped')
  later()
  const { receipts } = await store.erase({ seq: personal.seq, reason: 'subject request 12' })
  later()
  await (await store.session('old')).archive()
  later()
  const gone = await store.session('gone')
  later()
  await gone.append('note.taken', { text: 'soon gone' })
  later()
  await gone.delete({ reason: 'subject request 13' })
  later()
  const other = await store.tenant('acme').session('onboarding')
  later()
  await other.append('message.received', { message: 'm1', role: 'user', text: 'hello' }, { transient: true })
  return [called, returned, ...receipts]
}

export function readStored(db: Database, receipts: readonly Receipt[]): Stored {
  const names = db.all("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name")
  const tables = names.map(({ name }) => {
    const columns = db.get('select count(*) as n from pragma_table_info(?)', name as string)?.n
    const rows = db
      .all(`select * from ${name} order by ${columns === 1 ? '1' : '1, 2'}`)
      .map((row) => Object.fromEntries(Object.entries(row).map(([k, v]) => [k, toText(v)])))
    return [name as string, rows] as const
  })
  return { schema: db.get('pragma user_version')?.user_version as number, receipts, tables: Object.fromEntries(tables) }
}

/** One line for the store, then one for each row: kept so that a change can be read. */
export function writeText({ schema, receipts, tables }: Stored): string {
  const rows = Object.entries(tables).flatMap(([table, list]) => list.map((row) => ({ table, row })))
  return [{ schema, receipts }, ...rows].map((line) => `${JSON.stringify(line)}\n`).join('')
}

export function readText(text: string): Stored {
  const [first, ...rest] = text.trimEnd().split('\n')
  const rows = rest.map((line) => JSON.parse(line) as { table: string; row: Record<string, Value> })
  const tables = Map.groupBy(rows, ({ table }) => table)
  return {
    ...(JSON.parse(first as string) as Pick<Stored, 'schema' | 'receipts'>),
    tables: Object.fromEntries([...tables].map(([table, list]) => [table, list.map(({ row }) => row)])),
  }
}

/** The same store as if only so many migrations had been applied. */
export function storedAt(stored: Stored, schema: number): Stored {
  const history = stored.tables.migrations?.filter(({ number }) => Number(number) <= schema)
  return { ...stored, schema, tables: { ...stored.tables, ...(history && { migrations: history }) } }
}

/** The file as it was then: the migrations of its time, then its rows. */
export function restoreStored(path: string, stored: Stored): void {
  const db = connect(path)
  for (const { number, sql } of migrations) if (number <= stored.schema) db.exec(sql)
  db.exec(`pragma application_id = ${APPLICATION_ID}; pragma user_version = ${stored.schema}`)
  const there = db.all("select name from sqlite_schema where type = 'table'").map(({ name }) => name)
  for (const [table, rows] of Object.entries(stored.tables).filter(([name]) => there.includes(name))) {
    for (const row of rows) {
      const columns = Object.keys(row)
      db.run(
        `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
        ...Object.values(row).map((value) => (value !== null && typeof value === 'object' ? Buffer.from(value.hex, 'hex') : value)),
      )
    }
  }
  db.close()
}

const toText = (value: unknown): Value => (value instanceof Uint8Array ? { hex: Buffer.from(value).toString('hex') } : (value as Value))
