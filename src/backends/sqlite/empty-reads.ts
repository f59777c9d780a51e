// The answers of a store without data, for a tenant of a folder that has no file yet.

import type { Backend } from '../../ports/backend.ts'
import { connect } from './database.ts'
import { journalReads } from './journal.ts'
import { leases } from './leases.ts'
import { migrate } from './migrate.ts'
import { queries } from './queries.ts'
import { rowReads } from './rows.ts'
import { values } from './values.ts'

export type Reads = Pick<Backend, 'journal' | 'rows' | 'queries' | 'leases' | 'values'>

export function emptyReads(now: () => number): { readonly reads: Reads; close(): void } {
  const db = connect(':memory:')
  migrate(db, 0)
  const own = { db, now, write: async <T>(work: () => T) => work() }
  return {
    reads: { journal: journalReads(db), rows: rowReads(db), queries: queries(db, own.now), leases: leases(own), values: values(own) },
    close: () => db.close(),
  }
}
