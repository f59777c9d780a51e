// Finds damage below the journal, as far as the server can tell: broken indexes, failed checksums, missing row-level security
// and triggers, and events outside the places up to their head.

import { misplacedEvents } from '../../model/misplaced.ts'
import type { Database } from './database.ts'
import { missingGuards, standingGuards } from './guards.ts'
import { openTables } from './proof.ts'
import { STORE } from './wall.ts'

const brokenIndexes = `
  select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'inkfast' and not (i.indisvalid and i.indisready) order by 1`
const failedChecksums = `select coalesce(checksum_failures, 0) from pg_stat_database where datname = current_database()`
const extentsOf = 'select tenant, head, events, last from inkfast.misplaced_v1($1, $2::integer)'
const TENANTS_AT_A_TIME = 200

export async function checkDatabase(db: Database): Promise<readonly string[]> {
  const [indexes = [], checksums = [], open = [], triggers] = await db.read(
    STORE,
    { text: brokenIndexes },
    { text: failedChecksums },
    { text: openTables },
    standingGuards,
  )
  const failures = Number(checksums[0]?.[0] ?? 0)
  return [
    ...indexes.map(([name]) => `the index ${name} is not valid; run REINDEX INDEX inkfast.${name}`),
    ...(failures > 0 ? [`${failures} pages of this database did not have their checksum; check the disk and restore a backup`] : []),
    ...open.map(([name]) => `row-level security is not forced on ${name}; run inkfast migrate with the owner's login`),
    ...missingGuards(triggers).map((name) => `the trigger ${name} is missing or turned off; run inkfast migrate with the owner's login`),
    ...(await misplaced(db)),
  ]
}

/** In pages, each a statement of its own: the events of every tenant are counted. */
async function misplaced(db: Database): Promise<readonly string[]> {
  const told: string[] = []
  for (let after = ''; ; ) {
    const [rows = []] = await db.read(STORE, { text: extentsOf, values: [after, TENANTS_AT_A_TIME] })
    for (const [tenant, head, events, last] of rows) {
      const line = misplacedEvents({ tenant: tenant as string, head: Number(head), events: Number(events), last: Number(last) })
      if (line !== undefined) told.push(line)
    }
    if (rows.length < TENANTS_AT_A_TIME) return told
    after = rows.at(-1)?.[0] as string
  }
}
