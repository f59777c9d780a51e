// Collections of vectors: documents, filters and exact search for the nearest.

import type { Feature } from '../feature.ts'
import { collection } from './collection-decider.ts'
import { finishDrops, type VectorCollections, vectorCollections } from './collections.ts'
import type { CollectionOptions } from './find-collection.ts'
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
  onClose: async (engine) => engine.options.embedder?.close(),
  onMaintain: async (scope) => ({ collectionsCleared: await finishDrops(scope) }),
  store: (scope) => ({
    vectors: (name, options) => vectorCollection(scope, name, options),
    collections: vectorCollections(scope),
  }),
}
