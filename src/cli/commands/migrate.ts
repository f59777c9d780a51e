// Shows the schema version and the missing migrations and, without --plan, applies them.

import { isDatabase } from '../../database.ts'
import { migrateStore, readSchema, type SchemaState } from '../../migrations.ts'
import { EXIT, type Exit, usage } from '../exit.ts'
import { one, time } from '../format.ts'
import { storePath } from '../store.ts'
import { printTable } from '../table.ts'
import { environment, type Terminal, verdict } from '../terminal.ts'
import { harmless, jsonLine } from '../text.ts'

export interface MigrateOptions {
  readonly plan?: boolean
  readonly sql?: boolean
  readonly tenantKey?: string
}

export async function migrate(t: Terminal, url: string | undefined, { plan = false, sql = false, ...rest }: MigrateOptions): Promise<Exit> {
  const store = storePath(url)
  const database = isDatabase(store)
  if (rest.tenantKey !== undefined && !database) throw usage('--tenant-key can only be used with PostgreSQL.')
  if (sql && !plan) throw usage('--sql can only be used with --plan.')
  const before = await readSchema(store)
  const missing = before.migrations.filter((m) => m.appliedAt === undefined).length
  // For a database, the key is registered and the isolation tested even if no migration is missing.
  const after =
    plan || (missing === 0 && !database && !before.guardsMissing?.length)
      ? before
      : await migrateStore(store, keyAndProgress(t, rest.tenantKey))
  const migrations = after.migrations.map(({ sql: text, ...m }) => (sql && text !== undefined ? { ...m, sql: text } : m))
  if (t.json) {
    const { found, needed } = before
    t.out(
      jsonLine({
        plan,
        found,
        needed,
        applied: plan ? 0 : missing,
        migrations,
        ...(after.walledAgain && { walledAgain: after.walledAgain }),
        ...(after.guardedAgain && { guardedAgain: after.guardedAgain }),
        ...(after.keyAdded !== undefined && { keyAdded: after.keyAdded }),
      }),
    )
  } else {
    tell(t, before, after, plan)
    if (sql) for (const m of before.migrations) if (m.sql !== undefined) t.out(`\n${harmlessLines(m.sql)}`)
  }
  return EXIT.fine
}

const keyAndProgress = (t: Terminal, given: string | undefined) => {
  const tenantKey = given ?? environment.tenantKey
  return {
    ...(tenantKey !== undefined && { tenantKey }),
    progress: (m: { readonly number: number; readonly name: string }) => {
      if (t.watched && !t.json) t.note(`applying ${numbered(m.number)} ${m.name}`)
    },
  }
}

const numbered = (number: number): string => String(number).padStart(4, '0')

const harmlessLines = (sql: string): string => sql.trimEnd().split('\n').map(harmless).join('\n')

function tell(t: Terminal, before: SchemaState, after: SchemaState, plan: boolean): void {
  const missing = before.migrations.filter((m) => m.appliedAt === undefined)
  const newer = before.found > before.needed
  t.out(newer ? `schema ${before.found}; this version knows ${before.needed}` : `schema ${before.found} → ${before.needed}`)
  t.out('')
  printTable(
    t,
    [
      { title: 'number', right: true },
      { title: 'migration', style: 'bold' },
      { title: 'checksum', style: 'dim' },
      { title: 'applied (UTC)' },
    ],
    after.migrations.map((m) => [
      numbered(m.number),
      m.name,
      m.checksum.slice(0, 12),
      m.appliedAt === undefined ? 'not yet' : time(m.appliedAt),
    ]),
  )
  t.out('')
  for (const table of after.walledAgain ?? [])
    t.out(verdict(t, 'warn', `row-level security was switched off on ${table} and is forced again; find out who did it`))
  for (const guard of after.guardedAgain ?? [])
    t.out(verdict(t, 'warn', `restored: ${guard}; find out who changed it, and run inkfast verify`))
  if (after.keyAdded) t.out(verdict(t, 'ok', 'a tenant key was registered; it and the previous one are valid, older ones are not'))
  if (newer) t.out(verdict(t, 'ok', 'a newer version migrated the store; this version can still use it'))
  else if (missing.length === 0) t.out(verdict(t, 'ok', after.keyAdded ? 'the schema is up to date' : 'up to date: nothing to do'))
  else if (plan) t.out(verdict(t, 'warn', planned(before)))
  else t.out(verdict(t, 'ok', `${one(missing.length, 'migration')} applied`))
}

function planned({ found, migrations }: SchemaState): string {
  const missing = migrations.filter((m) => m.appliedAt === undefined)
  const says = `${one(missing.length, 'migration')} to apply; nothing was changed.`
  const serves = Math.max(...missing.map((m) => m.serves ?? 0))
  if (serves === 0) return `${says} Back up the file, then run inkfast migrate without --plan.`
  if (found === 0) return `${says} The database has no Inkfast schema yet; run inkfast migrate without --plan.`
  const others = serves > found ? `Stop nodes that do not know schema ${serves} first` : 'Running nodes can continue meanwhile'
  return `${says} ${others}. Make a backup, then run inkfast migrate without --plan.`
}
