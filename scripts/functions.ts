// Writes the function that applies a batch on PostgreSQL into the newest migration that holds it, as src/backends/postgres/commit-function.ts makes it
// from the tables. Only for a schema that is not released yet; a released one gets a new migration with the next version of the function.

import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { commitFunction } from '../src/backends/postgres/commit-function.ts'

const file = globSync('src/backends/postgres/migrations/*.sql')
  .sort()
  .findLast((path) => readFileSync(path, 'utf8').includes('create function inkfast.commit_v1('))
if (!file) throw new Error('no migration holds the function')
const text = readFileSync(file, 'utf8')
const from = text.indexOf('create function inkfast.commit_v1(')
const to = text.indexOf('\n$$;', text.indexOf('as $$', from)) + '\n$$;'.length
writeFileSync(file, text.slice(0, from) + commitFunction + text.slice(to))
console.log(`wrote ${file}`)
