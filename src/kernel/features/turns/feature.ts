// Turns: one commit for everything that a turn leaves behind.

import type { Id } from '../../../model/ids.ts'
import type { Feature } from '../../feature.ts'
import { everyPage } from '../../reading/every-row.ts'
import { part, plan } from '../../writing/execute.ts'
import { type CommittedTurn, commitTurn } from './commit-turn.ts'
import { turn } from './turn-decider.ts'
import type { TurnOptions } from './turn-options.ts'

export interface TurnSession {
  /** Commits a turn: its nodes, leaf, checkpoint and usage, the claims and inputs it settles, and the release of its lease, all or nothing. */
  commitTurn(options: TurnOptions): Promise<CommittedTurn>
}

const AT_ONCE = 500

export const turns: Feature<object, TurnSession> = {
  name: 'turns',
  deciders: [turn],
  refs: 'a receipt holds ids and a digest',
  onForked: 'a receipt answers a retry in its own session: the same turn id is another turn in the fork',
  onSessionDeleted: async (scope, session) => {
    for await (const rows of everyPage(scope, 'turns', { index: 'bySession', equals: [session], limit: AT_ONCE }))
      if (rows.length > 0)
        await plan(
          scope,
          rows.map(({ id }) => part(turn, id as Id, { verb: 'forget' }, { session })),
        )
  },
  session: (view) => ({ commitTurn: (options) => commitTurn(view, options) }),
}
