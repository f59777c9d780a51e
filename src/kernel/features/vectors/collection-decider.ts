// A collection is created, dropped, and gone once its documents are.

import type { Id } from '../../../model/ids.ts'
import type { VectorCollectionRow } from '../../../model/vector.ts'
import { decider, fact, type HappenedWith } from '../../writing/decider.ts'

export type CollectionSettings = Required<Pick<VectorCollectionRow, 'name' | 'dimensions' | 'metric'>> & Pick<VectorCollectionRow, 'fields'>

export type CollectionCommand =
  | { readonly verb: 'create'; readonly settings: CollectionSettings }
  | { readonly verb: 'drop' }
  | { readonly verb: 'clear' }

export const collection = decider<VectorCollectionRow, CollectionCommand>({
  table: 'vector_collections',

  decide: {
    create: (row, { settings }) => (row ? [] : [fact('collection.created', { ...settings })]),
    drop: (row) => (row?.state === 'live' ? [fact('collection.dropped', {})] : []),
    clear: (row) => (row?.state === 'dropped' ? [fact('collection.cleared', {})] : []),
  },

  evolve: {
    'collection.created': (_, e: HappenedWith<CollectionSettings>) => ({
      ...e.data,
      id: e.subject as Id<'collection'>,
      state: 'live',
      createdAt: e.at,
    }),
    'collection.dropped': (row) => row && { ...row, state: 'dropped' },
    'collection.cleared': () => undefined,
  },

  names: ({ state, name }) => (state === 'live' && name !== undefined ? [['collection', name]] : []),
  keeps: ({ dimensions, metric }) => ({ dimensions, metric }),
})
