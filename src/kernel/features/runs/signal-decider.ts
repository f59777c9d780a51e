// A signal is sent once and taken by one run. Then its row is removed, and the journal keeps its events.

import { refuse } from '../../../model/errors.ts'
import type { SignalRow } from '../../../model/signal.ts'
import { decider, fact } from '../../writing/decider.ts'

export type SignalCommand =
  | ({ readonly verb: 'send' } & Pick<SignalRow, 'session' | 'name' | 'data'>)
  | { readonly verb: 'take'; readonly id: string }

export const signal = decider<SignalRow, SignalCommand>({
  table: 'signals',

  decide: {
    send: (row, { verb: _, ...sent }) => (row ? [] : [fact('signal.sent', sent)]),
    take: (row, { id }) => {
      if (!row) throw refuse('CONFLICT', { table: 'signals', id, tries: 1 })
      return [fact('signal.taken', {})]
    },
  },

  evolve: {
    'signal.sent': (_, e) => {
      const { session, name, data } = (e.data ?? {}) as Partial<SignalRow>
      // An erased signal has only its header, so no wait can find it.
      if (session === undefined || name === undefined) return undefined
      return { session, name, data, state: 'pending', sentAt: e.at }
    },
    'signal.taken': () => undefined,
  },
})
