// The triggers that refuse forbidden changes of the journal: which of them are missing, turned off or changed, and how they are restored.

import type { Connection, Step } from './connections.ts'
import { migrations } from './migrate.ts'

const TIMEOUT_MS = 20_000

interface Guard {
  readonly name: string
  readonly table: string
  readonly sql: string
}

const made: readonly Guard[] = migrations.flatMap(({ sql }) =>
  [...sql.matchAll(/^create trigger (\w+)[^;]* on inkfast\.(\w+)\b[^;]*;$/gm)].map(([text, name, table]) => ({
    name: name as string,
    table: table as string,
    sql: text,
  })),
)

/** Reads the triggers that stand. One that got a condition it was not made with guards nothing. */
export const standingGuards: Step = {
  text: `
    select t.tgname from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'inkfast' and not t.tgisinternal and t.tgenabled in ('O', 'A')
      and (t.tgqual is null or t.tgname <> all ($1::text[]))`,
  values: [`{${made.filter(({ sql }) => !/\bwhen \(/.test(sql)).map(({ name }) => name)}}`],
}

/** The triggers that do not stand, of `standingGuards` rows. */
export function missingGuards(rows: readonly (readonly (string | null)[])[] = []): readonly string[] {
  const standing = new Set(rows.map(([name]) => name))
  return made.map(({ name }) => name).filter((name) => !standing.has(name))
}

/** Makes missing triggers again and turns them on, as their owner. Returns them in words. */
export async function guardAgain(connection: Connection): Promise<readonly string[]> {
  const [rows] = await connection.run([standingGuards], TIMEOUT_MS)
  const gone = missingGuards(rows)
  for (const { name, table, sql } of made.filter((guard) => gone.includes(guard.name))) {
    const again = sql.replace('create trigger', 'create or replace trigger')
    const on = `alter table inkfast.${table} enable trigger ${name}`
    await connection.run([{ text: 'set local role inkfast_owner' }, { text: again }, { text: on }], TIMEOUT_MS)
  }
  return gone.map((name) => `the trigger ${name} was missing or turned off`)
}
