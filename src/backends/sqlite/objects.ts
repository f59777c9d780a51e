// Compares tables, indexes and triggers with the migrations. A trigger that was dropped would silently stop guarding.

import { DatabaseSync } from 'node:sqlite'
import type { Database } from './database.ts'
import { appliedSchema, migrations } from './migrate.ts'

const OBJECTS =
  "select type, name, tbl_name as owner, sql from sqlite_schema where sql is not null and name not like 'sqlite\\_%' escape '\\'"

interface SchemaObject {
  readonly type: string
  readonly name: string
  readonly owner: string
  readonly sql: string
}

/** Returns the differences in words; empty if there are none. Objects that others added beside our tables are ignored. */
export function changedObjects(db: Database): readonly string[] {
  const made = objectsMade(appliedSchema(db))
  const found = new Map((db.all(OBJECTS) as unknown as readonly SchemaObject[]).map((one) => [one.name, one]))
  const tables = new Set(made.filter(({ type }) => type === 'table').map(({ name }) => name))
  const ours = new Set(made.map(({ name }) => name))
  return [
    ...made
      .filter(({ name, sql }) => found.get(name)?.sql !== sql)
      .map(({ type, name }) => `the ${type} ${name} ${found.has(name) ? 'is not the one that was made' : 'is missing'}`),
    ...[...found.values()]
      .filter(({ type, name, owner }) => type === 'trigger' && tables.has(owner) && !ours.has(name))
      .map(({ name, owner }) => `the trigger ${name} on ${owner} is not ours`),
  ]
}

function objectsMade(schema: number): readonly SchemaObject[] {
  const db = new DatabaseSync(':memory:')
  try {
    for (const { number, sql } of migrations) if (number <= schema) db.exec(sql)
    return db.prepare(OBJECTS).all() as unknown as readonly SchemaObject[]
  } finally {
    db.close()
  }
}
