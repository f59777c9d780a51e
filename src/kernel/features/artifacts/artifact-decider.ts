// Artifacts: a pointer leads to one blob, and a later put replaces it.

import type { ArtifactRow } from '../../../model/artifact.ts'
import type { Id } from '../../../model/ids.ts'
import { decider, fact, type HappenedWith } from '../../writing/decider.ts'

type Pointed = NonNullable<ArtifactRow['to']>

export type ArtifactCommand = { readonly verb: 'point'; readonly to: Pointed }

export const artifact = decider<ArtifactRow, ArtifactCommand>({
  table: 'artifacts',

  decide: {
    point: (row, { to }) => (row?.to?.blob.digest === to.blob.digest ? [] : [fact('blob.pointed', to)]),
  },

  evolve: {
    // The row stays when its payload is erased, and leads nowhere.
    'blob.pointed': (_, e: HappenedWith<Pointed>) => ({ id: e.subject as Id<'artifact'>, ...(e.data && { to: e.data }) }),
  },
})
