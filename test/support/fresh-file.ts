// The file of a new store on SQLite, copied from one that was made before: making all tables and indexes takes longer than most tests.

import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { make } from '../../src/backends/sqlite/create.ts'
import { placeInMemory } from './in-memory.ts'
import { LONG } from './rounds.ts'

let template: string | undefined

/** Puts an empty store there. In a long run it does nothing, and whoever opens the path makes the store. */
export function putFreshFile(path: string): string {
  if (LONG) return path
  template ??= makeTemplate()
  copyFileSync(template, path)
  return path
}

function makeTemplate(): string {
  const folder = mkdtempSync(join(placeInMemory() ?? tmpdir(), 'inkfast-fresh-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'store.db')
  make(path, Date.now())
  return path
}
