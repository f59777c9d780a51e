// A source: its revision moves with every change of one of its triggers. A firing is guarded by it, so its triggers are those that were read.

import { refuse } from '../../../model/errors.ts'
import { limits } from '../../../model/limits.ts'
import type { SourceRow } from '../../../model/trigger.ts'
import { decider, fact } from '../../writing/decider.ts'

/** `by` is the change in the number of triggers. */
export interface SourceCommand {
  readonly verb: 'change'
  readonly source: string
  readonly by: -1 | 0 | 1
}

export const source = decider<SourceRow, SourceCommand>({
  table: 'sources',

  decide: {
    change: (row, { source: name, by }) => {
      const count = Math.max(0, (row?.count ?? 0) + by)
      if (by > 0 && count > limits.sourceTriggers) throw refuse('TRIGGER_LIMIT', { source: name, limit: limits.sourceTriggers })
      return [fact('triggers.changed', { source: name, count })]
    },
  },

  evolve: {
    // An erased change keeps the count of the one before. The next change corrects it.
    'triggers.changed': (row, e) => (e.data as SourceRow | undefined) ?? row ?? { count: 0 },
  },
})
