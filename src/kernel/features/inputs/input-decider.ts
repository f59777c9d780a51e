// An input is offered, accepted by a run, and ends with it, or it waits for the next turn. No run hears a cancelled input.

import { refuse } from '../../../model/errors.ts'
import type { RunId, SessionId } from '../../../model/ids.ts'
import type { InputId, InputRow } from '../../../model/input.ts'
import { decider, fact } from '../../writing/decider.ts'
import type { RunEnding } from '../runs/writing/ending.ts'

export type OfferedInput = Pick<InputRow, 'boundary' | 'key' | 'turn' | 'content'>

/** The run of these commands is in the header of the event, which outlives an erasure. */
export type InputCommand =
  | { readonly verb: 'offer'; readonly id: InputId; readonly set: OfferedInput }
  /** `from` is the run that died with the input and has lost it. */
  | { readonly verb: 'accept'; readonly id: InputId; readonly run: RunId; readonly from?: RunId | undefined }
  | { readonly verb: 'end'; readonly run: RunId; readonly how: RunEnding }
  | { readonly verb: 'cancel'; readonly id: InputId }
  | { readonly verb: 'prune' }

const moved = (id: InputId) => refuse('CONFLICT', { table: 'inputs', id, tries: 1 })

export const input = decider<InputRow, InputCommand>({
  table: 'inputs',

  decide: {
    // A known input is refused, not ignored, because the rest of the commit belongs to it.
    offer: (row, { id, set }) => {
      if (row) throw moved(id)
      return [fact('input.offered', set)]
    },
    accept: (row, { id, run, from }) => {
      const meant = row?.state === 'deferred' || (row?.state === 'pending' && row.run === run)
      const left = from !== undefined && row?.run === from && (row.state === 'accepted' || row.state === 'pending')
      if (!meant && !left) throw moved(id)
      return [fact('input.accepted', {})]
    },
    end: (row, { run, how }) => {
      if (row?.run !== run) return []
      if (row.state === 'pending' || (row.state === 'accepted' && how === 'failed')) return [fact('input.deferred', {})]
      return row.state === 'accepted' ? [fact('input.completed', {})] : []
    },
    cancel: (row, { id }) => {
      if (row?.state !== 'pending' && row?.state !== 'deferred') throw moved(id)
      return [fact('input.cancelled', {})]
    },
    prune: (row) => (row?.state === 'completed' || row?.state === 'cancelled' ? [fact('input.pruned', {})] : []),
  },

  // An erased fact still moves the state. Only its payload is gone.
  evolve: {
    'input.offered': (_, e) => ({
      boundary: 'afterWork',
      ...(e.data as Partial<InputRow> | undefined),
      id: e.subject as InputId,
      session: e.session as SessionId,
      state: e.run ? 'pending' : 'deferred',
      run: e.run,
      by: e.actor || undefined,
      offeredAt: e.at,
    }),
    'input.accepted': (row, e) => row && { ...row, state: 'accepted', run: e.run, acceptedAt: e.at },
    'input.deferred': (row) => row && { ...row, state: 'deferred', run: undefined, acceptedAt: undefined },
    'input.completed': (row, e) => row && { ...row, state: 'completed', endedAt: e.at },
    'input.cancelled': (row, e) => row && { ...row, state: 'cancelled', endedAt: e.at },
    // The journal keeps what is gone from the rows.
    'input.pruned': () => undefined,
  },
})
