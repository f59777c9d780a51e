// An execution has one snapshot, which only a later one replaces.

import { refuse } from '../../model/errors.ts'
import type { Id } from '../../model/ids.ts'
import type { SnapshotRow } from '../../model/snapshot.ts'
import { decider, fact, type HappenedWith } from '../decider.ts'

export type SnapshotCommand = { readonly verb: 'save'; readonly snapshot: Omit<SnapshotRow, 'id'> } | { readonly verb: 'delete' }

export const snapshot = decider<SnapshotRow, SnapshotCommand>({
  table: 'snapshots',

  decide: {
    save: (row, { snapshot: { execution, seq, ...rest } }) => {
      if (row && row.seq > seq) throw refuse('SNAPSHOT_OLDER', { execution, seq, found: row.seq })
      return [fact('snapshot.saved', { execution, seq, ...rest })]
    },
    delete: (row) => (row ? [fact('snapshot.deleted', {})] : []),
  },

  evolve: {
    'snapshot.saved': (_, e: HappenedWith<Omit<SnapshotRow, 'id'>>) => e.data && { ...e.data, id: e.subject as Id<'snapshot'> },
    'snapshot.deleted': () => undefined,
  },
})
