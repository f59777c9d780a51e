// Compares the schema of a file with the migrations, by its text alone: no statement of others is compiled or run meanwhile. A trigger that was
// dropped would silently stop guarding, and one that was added could swallow events.

import { DatabaseSync } from 'node:sqlite'
import { refuse } from '../../model/errors.ts'
import type { Database } from './database.ts'
import { appliedSchema, migrations } from './migrate.ts'
import { type SchemaObject, touchesOurs } from './strangers.ts'
import { undo } from './transaction.ts'

const OBJECTS = 'select type, name, tbl_name as owner, sql from sqlite_schema'
const TOLD = 5

export interface Alteration {
  /** `table`: reads go wrong. `index`: reads may fail. `trigger`: the journal is unguarded. `foreign`: an object of others touches our tables. */
  readonly kind: 'table' | 'index' | 'trigger' | 'foreign'
  /** In words. */
  readonly found: string
  readonly name: string
  /** The SQL that restores the object, if restoring it loses nothing. */
  readonly mend?: string
}

/** Objects that others added beside our tables are no alteration, if they leave our tables alone. */
export function alterations(db: Database): readonly Alteration[] {
  const made = objectsMade(appliedSchema(db))
  const found = db.all(OBJECTS) as unknown as readonly SchemaObject[]
  const there = new Map<string, SchemaObject>()
  const told: Alteration[] = []
  for (const one of found) {
    const ours = made.byName.get(one.name)
    if (ours && !there.has(one.name)) there.set(one.name, one)
    else {
      const touched = touchesOurs(one, made.tables)
      if (touched !== undefined) told.push({ kind: 'foreign', found: touched, name: one.name })
    }
  }
  for (const { type, name, owner, sql } of made.byName.values()) {
    const one = there.get(name)
    if (one && one.type === type && one.owner === owner && one.sql === sql) continue
    const mend = type !== 'table' && sql !== null && (!one || one.type === type) ? `drop ${type} if exists ${name}; ${sql}` : undefined
    told.push({
      kind: type as 'table' | 'index' | 'trigger',
      found: `the ${type} ${name} ${one ? 'is not the one that was made' : 'is missing'}`,
      name,
      ...(mend !== undefined && { mend }),
    })
  }
  const encoding = db.get('pragma encoding')?.encoding
  if (encoding !== 'UTF-8')
    told.push({ kind: 'table', found: `the texts are kept as ${encoding}, which orders them differently`, name: 'encoding' })
  return told
}

export const changedObjects = (db: Database): readonly string[] => alterations(db).map(({ found }) => found)

/** Describes the objects that `mendObjects` would restore. */
export const mendable = (db: Database): readonly string[] =>
  alterations(db)
    .filter(({ mend }) => mend !== undefined)
    .map(({ found }) => found)

/** Refuses a file whose schema would change what is read, or what a write does. Call it before anything of the file is read from a table. */
export function checkObjects(db: Database, { readOnly, mends }: { readonly readOnly: boolean; readonly mends: boolean }): void {
  const all = alterations(db)
  // A reader fires no trigger, and reads no view that has a name of its own.
  const wrong = all.filter(({ kind, mend }) => (readOnly ? kind === 'table' || kind === 'index' : true) && !(mends && mend !== undefined))
  if (wrong.length === 0) return
  const why = `${wrong
    .slice(0, TOLD)
    .map(({ found }) => found)
    .join('; ')}${wrong.length > TOLD ? `; and ${wrong.length - TOLD} more` : ''}`
  throw wrong.every(({ kind }) => kind === 'trigger')
    ? refuse('GUARDS_MISSING', { place: db.path, why })
    : refuse('SCHEMA_ALTERED', { path: db.path, why, mends: wrong.every(({ mend }) => mend !== undefined) })
}

/** Makes missing and changed triggers and indexes of ours again, all of them or none. */
export function mendObjects(db: Database): void {
  if (mendable(db).length === 0) return
  db.exec('begin immediate')
  try {
    for (const { mend } of alterations(db)) if (mend !== undefined) db.exec(mend)
    db.exec('commit')
  } catch (error) {
    undo(db)
    throw error
  }
}

interface Made {
  readonly byName: ReadonlyMap<string, SchemaObject>
  readonly tables: ReadonlySet<string>
}

// Every open compares with them, and a folder opens many files.
const madeBySchema = new Map<number, Made>()

function objectsMade(schema: number): Made {
  const known = madeBySchema.get(schema) ?? makeObjects(schema)
  madeBySchema.set(schema, known)
  return known
}

function makeObjects(schema: number): Made {
  const db = new DatabaseSync(':memory:')
  try {
    for (const { number, sql } of migrations) if (number <= schema) db.exec(sql)
    const objects = db.prepare(OBJECTS).all() as unknown as readonly SchemaObject[]
    return {
      byName: new Map(objects.map((one) => [one.name, one])),
      tables: new Set(objects.filter(({ type }) => type === 'table').map(({ name }) => name)),
    }
  } finally {
    db.close()
  }
}
