// Where the schema stands and what would be done, and, unless only a plan was asked for, doing it.

import { migrateFile, readSchema, type SchemaState } from '../../migrations.ts'
import { EXIT, type Exit } from '../exit.ts'
import { one, time } from '../format.ts'
import { storePath } from '../store.ts'
import { printTable } from '../table.ts'
import { type Terminal, verdict } from '../terminal.ts'
import { jsonLine } from '../text.ts'

export interface MigrateOptions {
  readonly plan?: boolean
}

export async function migrate(t: Terminal, url: string | undefined, { plan = false }: MigrateOptions): Promise<Exit> {
  const path = storePath(url)
  const before = readSchema(path)
  const missing = before.migrations.filter((m) => m.appliedAt === undefined).length
  const after = plan || missing === 0 ? before : await migrateFile(path)
  if (t.json)
    t.out(jsonLine({ plan, found: before.found, needed: before.needed, applied: plan ? 0 : missing, migrations: after.migrations }))
  else tell(t, before, after, missing, plan)
  return EXIT.fine
}

function tell(t: Terminal, before: SchemaState, after: SchemaState, missing: number, plan: boolean): void {
  t.out(`schema ${before.found} → ${before.needed}`)
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
      String(m.number).padStart(4, '0'),
      m.name,
      m.checksum.slice(0, 12),
      m.appliedAt === undefined ? 'not yet' : time(m.appliedAt),
    ]),
  )
  t.out('')
  if (missing === 0) t.out(verdict(t, 'ok', 'up to date: nothing to do'))
  else if (plan)
    t.out(
      verdict(
        t,
        'warn',
        `${one(missing, 'migration')} to apply; nothing was changed. Back up the file, then run inkfast migrate without --plan.`,
      ),
    )
  else t.out(verdict(t, 'ok', `${one(missing, 'migration')} applied`))
}
