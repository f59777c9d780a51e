// The migrations as texts, by file name and in order. The package has them in its code (scripts/build.ts).

import { readdirSync, readFileSync } from 'node:fs'

const folder = new URL('./migrations/', import.meta.url)
const readSql = (file: string): string => readFileSync(new URL(file, folder), 'utf8')

export const migrationFiles: readonly (readonly [file: string, sql: string])[] = readdirSync(folder)
  .filter((file) => /^\d{4}_.+\.sql$/.test(file))
  .sort()
  .map((file) => [file, readSql(file)])

/** The roles that the first step needs. */
export const roles: string = readSql('roles.sql')
