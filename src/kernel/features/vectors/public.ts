// The types of this feature that users see.

export type { EmbedderMark, Metadata, Metric } from '../../../model/vector.ts'
export type { FieldFilter, FilterScalar, MetadataFilter } from '../../reading/metadata-filter.ts'
export type { CollectionSummary, VectorCollections } from './collections.ts'
export type { VectorMembers } from './feature.ts'
export type { CollectionOptions } from './find-collection.ts'
export type { SearchHit, SearchResult } from './search.ts'
export type { Vector, VectorDocument } from './take-document.ts'
export type {
  CollectionInfo,
  CountDocumentsOptions,
  DeleteDocumentsOptions,
  SearchOptions,
  StoredDocument,
  UpsertOptions,
  VectorCollection,
} from './vectors.ts'
