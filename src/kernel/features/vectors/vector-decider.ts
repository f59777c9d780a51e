// A document is put, put again, or deleted.

import { canonical } from '../../../model/canonical.ts'
import type { Id } from '../../../model/ids.ts'
import type { VectorRow } from '../../../model/vector.ts'
import { decider, fact, type HappenedWith } from '../../writing/decider.ts'

export type PutDocument = Required<Pick<VectorRow, 'collection' | 'key' | 'vector'>> & Pick<VectorRow, 'content' | 'metadata' | 'embedder'>

/** A document whose text could not be embedded yet. */
export type PendingDocument = Required<Pick<VectorRow, 'collection' | 'key' | 'failed'>> & Pick<VectorRow, 'metadata'>

export type VectorCommand =
  | { readonly verb: 'put'; readonly document: PutDocument }
  | { readonly verb: 'fail'; readonly document: PendingDocument }
  | { readonly verb: 'delete' }
  | { readonly verb: 'remove' }

export const vector = decider<VectorRow, VectorCommand>({
  table: 'vectors',

  decide: {
    put: (row, { document }) => (row && isSame(row, document) ? [] : [fact('vector.put', { ...document })]),
    // The same reason again writes nothing, however often it is tried.
    fail: (row, { document }) => (row && isSame(row, document) ? [] : [fact('vector.failed', { ...document })]),
    delete: (row) => (row?.collection ? [fact('vector.deleted', {})] : []),
    // Also a row that holds nothing, because its payload was erased.
    remove: (row) => (row ? [fact('vector.deleted', {})] : []),
  },

  evolve: {
    // The row stays when its payload is erased, and holds nothing.
    'vector.put': (_, e: HappenedWith<PutDocument>) => ({ ...e.data, id: e.subject as Id<'vector'> }),
    'vector.failed': (_, e: HappenedWith<PendingDocument>) => ({ ...e.data, id: e.subject as Id<'vector'> }),
    'vector.deleted': () => undefined,
  },
})

/** Putting the same document again writes nothing. */
const isSame = ({ id: _, ...row }: VectorRow, document: Omit<VectorRow, 'id'>): boolean =>
  row.vector === document.vector && row.content === document.content && canonical(row) === canonical(document)
