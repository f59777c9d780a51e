// Artifacts: blobs that are found by a namespace and a reference.

import type { ArtifactRow } from '../../../model/artifact.ts'
import type { Feature } from '../../feature.ts'
import { artifact } from './artifact-decider.ts'
import { type StoreArtifacts, storeArtifacts } from './artifacts.ts'

export interface ArtifactMembers {
  /** Bytes under a namespace and a reference: modules, environments, and pointers that can be replaced. */
  readonly artifacts: StoreArtifacts
}

export const artifacts: Feature<ArtifactMembers> = {
  name: 'artifacts',
  deciders: [artifact],
  refs: { artifacts: ({ to }: ArtifactRow) => (to ? [`blob:${to.blob.digest}`] : []) },
  onForked: 'artifacts are named by a namespace, not by a session',
  store: (scope) => ({ artifacts: storeArtifacts(scope) }),
}
