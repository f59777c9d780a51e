// A pointer to a blob: a namespace and a reference in it, such as `module` and `sha256:3f…`.

import type { BlobRef } from './blob.ts'
import type { Id } from './ids.ts'

export interface ArtifactRow {
  readonly id: Id<'artifact'>
  /** The payload of the last event; absent if it was erased. */
  readonly to?: { readonly namespace: string; readonly reference: string; readonly blob: BlobRef }
}
