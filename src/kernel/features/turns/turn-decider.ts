// The receipt of a turn is written once, in the commit of the turn.

import type { TurnRow } from '../../../model/graph.ts'
import type { Id, SessionId } from '../../../model/ids.ts'
import { RECORD_SCHEMA } from '../../../model/record-version.ts'
import { decider, fact, type HappenedWith } from '../../writing/decider.ts'

export type TurnSet = Omit<TurnRow, 'id' | 'session' | 'schema' | 'at'>

export type TurnCommand = { readonly verb: 'commit'; readonly set: TurnSet } | { readonly verb: 'forget' }

export const turn = decider<TurnRow, TurnCommand>({
  table: 'turns',
  // A retry must still find its receipt. The digest is keyed and tells nothing.
  keeps: ({ session: _, id: __, at: ___, ...kept }) => kept,

  decide: {
    commit: (_, { set }) => [fact('turn.committed', { schema: RECORD_SCHEMA, ...set })],
    forget: (row) => (row ? [fact('turn.forgotten', {})] : []),
  },

  evolve: {
    'turn.committed': (_, e: HappenedWith<TurnSet>) => ({
      schema: RECORD_SCHEMA,
      turn: '',
      digest: '',
      revision: 0,
      nodes: 0,
      ...e.data,
      id: e.subject as Id<'turn'>,
      session: e.session as SessionId,
      at: e.at,
    }),
    'turn.forgotten': () => undefined,
  },
})
