// Makes a release ready: checks that the tree is what will be tagged, freezes the migrations, tests, packs, and says what to do next.
//
//   node scripts/release.ts --schema    rewrites what is made from the migrations of both databases: schema.sql, released.json, the kept
//                                       stores (before a release is tagged)
//   node scripts/release.ts --dry-run   everything but writing
//   node scripts/release.ts             the whole of it

import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openDatabase } from '../src/backends/sqlite/open.ts'
import { databaseStored } from '../test/migrations/database.ts'
import { readStored, writeStore, writeText } from '../test/migrations/stored.ts'
import { startPglite } from '../test/support/pglite.ts'
import { newestVersion } from '../test/support/tidy/files.ts'
import { databaseText } from '../test/support/tidy/postgres-schema.ts'
import { checkReleased, isMigration, type Released, schemaText, sha256 } from '../test/support/tidy/schema.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const folderOf = (backend: string): string => join(root, 'src', 'backends', backend)
const dryRun = process.argv.includes('--dry-run')

function stop(why: string): never {
  console.error(`✗ ${why}`)
  process.exit(1)
}

function call(command: string, ...args: readonly string[]): string {
  const env = { ...process.env, PATH: `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH ?? ''}` }
  const { status, stdout, error } = spawnSync(command, args, { cwd: root, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  if (error) stop(error.message)
  if (status !== 0) stop(`${command} ${args.join(' ')} failed:\n${stdout}`)
  return stdout.trim()
}

const write = (path: string, text: string): void => {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return
  if (dryRun) console.log(`  would write ${path.slice(root.length)}`)
  else {
    writeFileSync(path, text)
    console.log(`  wrote ${path.slice(root.length)}`)
  }
}

const isTagged = (version: string): boolean => call('git', 'tag', '--list', `v${version}`) !== ''

/** Migrations of a tagged release stay as they are; new ones are listed under the version that brings them. */
function freeze(backend: string, version: string): Released {
  const folder = join(folderOf(backend), 'migrations')
  const list = join(folder, 'released.json')
  const released = existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as Released) : {}
  const names = readdirSync(folder).filter(isMigration).sort()
  const files = Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
  const frozen = Object.fromEntries(Object.entries(released).filter(([tagged]) => tagged !== version && isTagged(tagged)))
  const before = new Set(Object.values(frozen).flatMap((release) => Object.keys(release)))
  const added = Object.entries(files).filter(([name]) => !before.has(name))
  const next = { ...frozen, ...(added.length > 0 && { [version]: Object.fromEntries(added.map(([name, sql]) => [name, sha256(sql)])) }) }
  const edited = checkReleased(next, files)
  if (edited.length > 0) stop(`${edited.join('\n')}\nA released migration is never edited: write a new one.`)
  return next
}

interface Fresh {
  readonly schema: string
  readonly stored: string
}

/** The schema of a fresh file, and a store with a little of everything in it for later versions to open. */
async function freshFile(): Promise<Fresh> {
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

async function writeSchema(version: string): Promise<void> {
  for (const [backend, fresh, ending] of [
    ['sqlite', freshFile, 'jsonl'],
    ['postgres', freshDatabase, 'postgres.jsonl'],
  ] as const) {
    const released = freeze(backend, version)
    const { schema, stored } = await fresh()
    write(join(folderOf(backend), 'schema.sql'), schema)
    write(join(folderOf(backend), 'migrations', 'released.json'), `${JSON.stringify(released, null, 2)}\n`)
    if (version in released) write(join(root, 'test', 'migrations', `${version}.${ending}`), stored)
  }
}

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
if (process.argv.includes('--schema')) {
  if (isTagged(version)) stop(`v${version} is tagged. Raise the version in package.json first; what was released stays.`)
  await writeSchema(version)
  process.exit()
}

console.log(`▸ is ${version} ready?`)
const changed = call('git', 'status', '--porcelain')
if (changed !== '' && !dryRun) stop(`The tree has changes that are not committed:\n${changed}`)
if (changed !== '') console.log('  the tree has changes that are not committed; a release would stop here')
if (isTagged(version)) stop(`v${version} is tagged already. Raise the version in package.json and write its changes down.`)
const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
if (newestVersion(changelog) !== version)
  stop(`The newest heading of CHANGELOG.md is ${newestVersion(changelog)}, package.json says ${version}.`)
const dated = new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d{2}-\\d{2}$`, 'm').test(changelog)
if (!dated && !dryRun) stop(`CHANGELOG.md says that ${version} is unreleased. Write the day of the release in its heading and commit.`)
if (!dated) console.log('  CHANGELOG.md has no date for it yet; a release would stop here')

console.log('▸ migrations and schema')
await writeSchema(version)
if (!dryRun && call('git', 'status', '--porcelain') !== '') stop('The frozen files changed. Look at them, commit them, and run this again.')

console.log('▸ npm test')
console.log(`  ${call('npm', 'test').split('\n').at(-1)}`)

console.log('▸ npm pack')
const packed = call('npm', 'pack', ...(dryRun ? ['--dry-run'] : []))
  .split('\n')
  .at(-1) as string
console.log(`  ${packed}`)

console.log(`
Next, by hand:
  git tag -a v${version} -m "Inkfast ${version}"
  git push --follow-tags
  npm publish ${packed}
  then raise the version in package.json and begin a new heading in CHANGELOG.md`)
