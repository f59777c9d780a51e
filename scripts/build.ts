// Writes dist: every room of the product compiled, and the migrations beside the code that reads them. Starts from nothing, because the compiler
// leaves files behind whose sources are gone.

import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
rmSync(`${root}dist`, { recursive: true, force: true })
const rooms = ['src/cli', 'src/conformance', 'src/adapters/langgraph']
const { status } = spawnSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-b', ...rooms], { cwd: root, stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)
for (const backend of readdirSync(`${root}src/backends`)) {
  const from = `${root}src/backends/${backend}/migrations`
  const there = readdirSync(`${root}src/backends/${backend}`).includes('migrations')
  if (there) cpSync(from, `${root}dist/backends/${backend}/migrations`, { recursive: true })
}
