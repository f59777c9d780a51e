// A firing: something that happened at a source, recorded once. The same key with another payload is refused.

import { refuse } from '../../../model/errors.ts'
import type { FiringId, FiringRow } from '../../../model/trigger.ts'
import { decider, fact } from '../../writing/decider.ts'

export type FiringCommand =
  | ({ readonly verb: 'fire'; readonly id: FiringId } & Pick<FiringRow, 'source' | 'key' | 'payload' | 'digest'>)
  | { readonly verb: 'forget' }

export const firing = decider<FiringRow, FiringCommand>({
  table: 'firings',

  decide: {
    fire: (row, { verb: _, id, ...fired }) => {
      if (!row) return [fact('trigger.fired', fired)]
      if (isAnother(row, fired)) throw refuse('KEY_REUSED', { firing: id, source: fired.source, key: fired.key, erased: row.erased })
      return []
    },
    forget: (row) => (row ? [fact('firing.forgotten', {})] : []),
  },

  evolve: {
    'trigger.fired': (_, e) => {
      const id = e.subject as FiringId
      if (!e.data) return { id, firedAt: e.at, erased: true }
      return { ...(e.data as Partial<FiringRow>), id, firedAt: e.at }
    },
    // The journal keeps what is gone from the rows.
    'firing.forgotten': () => undefined,
  },
})

/** An erased payload cannot be compared, so it counts as another one. */
export const isAnother = (row: FiringRow, { digest }: Pick<FiringRow, 'digest'>): boolean =>
  row.digest === undefined || row.digest !== digest
