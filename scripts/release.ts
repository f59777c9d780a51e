// Makes a release ready: checks that the tree is what will be tagged, freezes the migrations, tests, packs, and says what to do next.
//
//   node scripts/release.ts --dry-run   everything but writing
//   node scripts/release.ts             the whole of it

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { newestVersion } from '../test/support/tidy/files.ts'
import { isTagged, packageVersion, writeMigrations, writer, writeSchemas } from './schema.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
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

const version = packageVersion()
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
const write = writer(dryRun)
writeMigrations(write)
await writeSchemas(version, write)
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
