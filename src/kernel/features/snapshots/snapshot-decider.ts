// An execution has one snapshot, which only a later one replaces.

import { refuse } from '../../../model/errors.ts'
import type { Id, SessionId } from '../../../model/ids.ts'
import type { SnapshotRow } from '../../../model/snapshot.ts'
import { decider, fact, type HappenedWith } from '../../writing/decider.ts'

export type SnapshotCommand = { readonly verb: 'save'; readonly snapshot: Omit<SnapshotRow, 'id'> } | { readonly verb: 'delete' }

const NOTHING = { session: '' as SessionId, execution: '', seq: 0, at: 0 }

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
    // The row stays when its payload is erased, and holds nothing.
    'snapshot.saved': (_, e: HappenedWith<Omit<SnapshotRow, 'id'>>) => ({ ...NOTHING, ...e.data, id: e.subject as Id<'snapshot'> }),
    'snapshot.deleted': () => undefined,
  },
})
