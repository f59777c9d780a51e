// A document is put, put again, or deleted.

import { canonical } from '../../model/canonical.ts'
import type { Id } from '../../model/ids.ts'
import type { VectorRow } from '../../model/vector.ts'
import { decider, fact, type HappenedWith } from '../decider.ts'

export type PutDocument = Required<Pick<VectorRow, 'collection' | 'key' | 'vector'>> & Pick<VectorRow, 'content' | 'metadata' | 'embedder'>

export type VectorCommand = { readonly verb: 'put'; readonly document: PutDocument } | { readonly verb: 'delete' }

export const vector = decider<VectorRow, VectorCommand>({
  table: 'vectors',

  decide: {
    put: (row, { document }) => (row && isSame(row, document) ? [] : [fact('vector.put', { ...document })]),
    delete: (row) => (row?.collection ? [fact('vector.deleted', {})] : []),
  },

  evolve: {
    // The row stays when its payload is erased, and holds nothing.
    'vector.put': (_, e: HappenedWith<PutDocument>) => ({ ...e.data, id: e.subject as Id<'vector'> }),
    'vector.deleted': () => undefined,
  },
})

/** Putting the same document again writes nothing. */
const isSame = ({ id: _, ...row }: VectorRow, document: PutDocument): boolean =>
  row.vector === document.vector && row.content === document.content && canonical(row) === canonical(document)
