// One entry of key-value state is set, set again, or deleted.

import type { Id, SessionId } from '../../../model/ids.ts'
import type { StateContent, StateRow } from '../../../model/state.ts'
import { decider, fact, type HappenedWith } from '../../writing/decider.ts'

export type StateCommand =
  | {
      readonly verb: 'set'
      readonly session?: SessionId | undefined
      readonly key: string
      readonly content: StateContent
      readonly expires?: number | undefined
    }
  | { readonly verb: 'delete' }
  /** Deletes the entry if it has expired at this time. Another writer may have set it again. */
  | { readonly verb: 'expire'; readonly now: number }

/** The entry has expired at this time of the store. */
export const isOver = ({ expires }: Pick<StateRow, 'expires'>, now: number): boolean => expires !== undefined && expires <= now

export const state = decider<StateRow, StateCommand>({
  table: 'state',

  decide: {
    set: (_, { session, key, content, expires }) => [
      fact('state.set', { ...(session && { session }), key, content, ...(expires !== undefined && { expires }) }),
    ],
    delete: (row) => (row?.content ? [fact('state.deleted', {})] : []),
    expire: (row, { now }) => (row?.content && isOver(row, now) ? [fact('state.deleted', {})] : []),
  },

  evolve: {
    // The row stays when its payload is erased, and holds nothing.
    'state.set': (_, e: HappenedWith<Omit<StateRow, 'id'>>) => ({ key: '', ...e.data, id: e.subject as Id<'state'> }),
    'state.deleted': () => undefined,
  },
})
