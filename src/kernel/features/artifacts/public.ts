// The types of this feature that users see.

export type { StoreArtifacts } from './artifacts.ts'
export type { ArtifactMembers } from './feature.ts'
