// Collections of vectors: documents, filters and exact search for the nearest.

import { invalidOption } from '../../../model/options.ts'
import type { Feature } from '../../feature.ts'
import { collection } from './collection-decider.ts'
import { finishDrops, type VectorCollections, vectorCollections } from './collections.ts'
import { closeEmbedder } from './embed.ts'
import type { CollectionOptions } from './find-collection.ts'
import { indexCache } from './index-cache.ts'
import { vector } from './vector-decider.ts'
import { type VectorCollection, vectorCollection } from './vectors.ts'

export interface VectorMembers {
  /** A collection of documents with vectors. The first `upsert` creates it; without options it must exist. */
  readonly vectors: (name: string, options?: CollectionOptions) => VectorCollection
  /** All collections of the tenant. */
  readonly collections: VectorCollections
}

export const vectors: Feature<VectorMembers> = {
  name: 'vectors',
  deciders: [collection, vector],
  refs: 'vectors and documents stand in the rows',
  onForked: 'collections belong to the tenant',
  onOpen: ({ options: { vectorMemory } }) => {
    if (vectorMemory !== undefined && (!Number.isSafeInteger(vectorMemory) || vectorMemory < 0))
      throw invalidOption('vectorMemory', 'a number of bytes ≥ 0', vectorMemory)
  },
  onClose: async (engine) => {
    await indexCache(engine).close()
    await closeEmbedder(engine)
  },
  onMaintain: async (scope) => ({ collectionsCleared: await finishDrops(scope) }),
  store: (scope) => ({
    vectors: (name, options) => vectorCollection(scope, name, options),
    collections: vectorCollections(scope),
  }),
}
