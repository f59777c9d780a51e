// Answers for a tenant of a folder store that has no file yet: reading creates none.

import { join } from 'node:path'
import type { Backend } from '../../ports/backend.ts'
import { BlobFiles } from './blob-files.ts'
import { fileBlobs } from './blobs.ts'
import { connect } from './database.ts'
import { journalReads } from './journal.ts'
import { leases } from './leases.ts'
import { migrate } from './migrate.ts'
import { queries } from './queries.ts'
import { rowReads } from './rows.ts'
import { texts } from './texts.ts'
import { values } from './values.ts'

export type Reads = Pick<Backend, 'journal' | 'rows' | 'queries' | 'leases' | 'values' | 'texts' | 'blobs'>

/** The answers of a store without data. */
export function emptyReads(folder: string, now: () => number): { readonly reads: Reads; close(): void } {
  const db = connect(':memory:')
  migrate(db, 0)
  const own = { db, now, write: async <T>(work: () => T) => work() }
  const files = new BlobFiles(join(folder, 'none'), folder)
  return {
    reads: {
      journal: journalReads(db),
      rows: rowReads(db),
      queries: queries(own),
      leases: leases(own),
      texts: texts(db),
      values: values(own),
      blobs: fileBlobs({ ...own, files, checkWritable: () => {} }),
    },
    close: () => db.close(),
  }
}
