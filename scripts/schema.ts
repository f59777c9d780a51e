// Writes everything that follows from src/model/tables.ts and side-tables.ts: the generated parts of the migrations, schema.sql, released.json
// and the kept stores in test/migrations. Run it after a change of a table or of a migration; test/schema.test.ts fails until then.
//
//   node scripts/schema.ts

import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { checkReleased, isMigration, type Released, schemaText, sha256 } from '../test/support/tidy/schema.ts'
import type { Engine } from './schema/plan.ts'
import { withSections } from './schema/sections.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const folderOf = (engine: Engine): string => join(root, 'src', 'backends', engine)
const MIGRATION = join('migrations', '0001_journal.sql')

type Write = (path: string, text: string) => boolean

/** A file that is already as it should be is not written; says whether it was. */
export const writer =
  (dryRun: boolean): Write =>
  (path, text) => {
    if (existsSync(path) && readFileSync(path, 'utf8') === text) return false
    if (!dryRun) writeFileSync(path, text)
    console.log(`  ${dryRun ? 'would write' : 'wrote'} ${path.slice(root.length)}`)
    return true
  }

export const isTagged = (version: string): boolean =>
  execFileSync('git', ['tag', '--list', `v${version}`], { cwd: root, encoding: 'utf8' }).trim() !== ''

export const packageVersion = (): string => (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version

/** The generated parts of the migrations. They come first: everything else is read from what the migrations make. */
export function writeMigrations(write: Write): void {
  for (const engine of ['sqlite', 'postgres'] as const) {
    const path = join(folderOf(engine), MIGRATION)
    const [found, wanted] = [readFileSync(path, 'utf8'), withSections(engine, readFileSync(path, 'utf8'))]
    if (found !== wanted && isFrozen(engine))
      throw new Error(
        `${path.slice(root.length)} was released. A table that is new comes in a new migration, with its text and its functions.`,
      )
    write(path, wanted)
  }
}

/** What a fresh store of each engine shows, and a store with a little of everything in it for later versions to open. */
export async function writeSchemas(version: string, write: Write): Promise<void> {
  for (const [engine, fresh, ending] of [
    ['sqlite', freshFile, 'jsonl'],
    ['postgres', freshDatabase, 'postgres.jsonl'],
  ] as const) {
    const released = freeze(engine, version)
    const { schema, stored } = await fresh()
    write(join(folderOf(engine), 'schema.sql'), schema)
    const changed = write(join(folderOf(engine), 'migrations', 'released.json'), `${JSON.stringify(released, null, 2)}\n`)
    // The store on PostgreSQL holds times of the server, so it is written only with a new schema.
    const kept = join(root, 'test', 'migrations', `${version}.${ending}`)
    if (version in released && (changed || !existsSync(kept))) write(kept, stored)
  }
}

const listed = (engine: Engine): Released => {
  const list = join(folderOf(engine), 'migrations', 'released.json')
  return existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as Released) : {}
}

const isFrozen = (engine: Engine): boolean =>
  Object.entries(listed(engine)).some(([version, files]) => basename(MIGRATION) in files && isTagged(version))

/** Migrations of a tagged release stay as they are; new ones are listed under the version that brings them. */
function freeze(engine: Engine, version: string): Released {
  const folder = join(folderOf(engine), 'migrations')
  const names = readdirSync(folder).filter(isMigration).sort()
  const files = Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
  const frozen = Object.fromEntries(Object.entries(listed(engine)).filter(([tagged]) => tagged !== version && isTagged(tagged)))
  const before = new Set(Object.values(frozen).flatMap((release) => Object.keys(release)))
  const added = Object.entries(files).filter(([name]) => !before.has(name))
  const next = { ...frozen, ...(added.length > 0 && { [version]: Object.fromEntries(added.map(([name, sql]) => [name, sha256(sql)])) }) }
  const edited = checkReleased(next, files)
  if (edited.length > 0) throw new Error(`${edited.join('\n')}\nA released migration is never edited: write a new one.`)
  return next
}

interface Fresh {
  readonly schema: string
  readonly stored: string
}

// Imported when they are needed: they read the migrations as soon as they are loaded, and those may just have been written.
async function freshFile(): Promise<Fresh> {
  const { openDatabase } = await import('../src/backends/sqlite/open.ts')
  const { readStored, writeStore, writeText } = await import('../test/migrations/stored.ts')
  const scratch = mkdtempSync(join(tmpdir(), 'inkfast-schema-'))
  try {
    const path = join(scratch, 'fresh.db')
    const receipts = await writeStore(path)
    const db = await openDatabase(path, () => 0)
    const schema = schemaText(db)
    const stored = readStored(db, receipts)
    db.close()
    return { schema, stored: writeText(stored) }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The same of a database, inside this process: what it shows is what a server of the same version shows. */
async function freshDatabase(): Promise<Fresh> {
  const { databaseStored } = await import('../test/migrations/database.ts')
  const { writeText } = await import('../test/migrations/stored.ts')
  const { startPglite } = await import('../test/support/pglite.ts')
  const { databaseText } = await import('../test/support/tidy/postgres-schema.ts')
  const lite = await startPglite()
  try {
    const stored = await databaseStored(lite)
    return {
      schema: await databaseText(async (sql) => (await lite.query<Record<string, string | null>>(sql)).rows),
      stored: writeText(stored),
    }
  } finally {
    await lite.close()
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const version = packageVersion()
  if (isTagged(version)) {
    console.error(`✗ v${version} is tagged. Raise the version in package.json first; a released schema stays as it is.`)
    process.exit(1)
  }
  const write = writer(false)
  writeMigrations(write)
  await writeSchemas(version, write)
}
