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

/** Returns the triggers of ours that are missing or changed, in words. */
export const changedTriggers = (db: Database): readonly string[] =>
  triggersAstray(db).map(({ name, there }) => `the trigger ${name} ${there ? 'is not the one that was made' : 'is missing'}`)

/** Makes missing and changed triggers again. */
export function restoreTriggers(db: Database): readonly string[] {
  const astray = triggersAstray(db)
  for (const { name, sql } of astray) db.exec(`begin immediate; drop trigger if exists ${name}; ${sql}; commit`)
  return astray.map(({ name }) => name)
}

function triggersAstray(db: Database): readonly (SchemaObject & { readonly there: boolean })[] {
  const found = new Map(db.all("select name, sql from sqlite_schema where type = 'trigger'").map(({ name, sql }) => [name, sql]))
  return objectsMade(appliedSchema(db))
    .filter(({ type, name, sql }) => type === 'trigger' && found.get(name) !== sql)
    .map((trigger) => ({ ...trigger, there: found.has(trigger.name) }))
}

// Every open compares with them, and a folder opens many files.
const objectsBySchema = new Map<number, readonly SchemaObject[]>()

function objectsMade(schema: number): readonly SchemaObject[] {
  const known = objectsBySchema.get(schema) ?? makeObjects(schema)
  objectsBySchema.set(schema, known)
  return known
}

function makeObjects(schema: number): readonly SchemaObject[] {
  const db = new DatabaseSync(':memory:')
  try {
    for (const { number, sql } of migrations) if (number <= schema) db.exec(sql)
    return db.prepare(OBJECTS).all() as unknown as readonly SchemaObject[]
  } finally {
    db.close()
  }
}
