// Pins: a value or a blob is pinned or not.

import type { Id } from '../../../model/ids.ts'
import type { PinRow } from '../../../model/pin.ts'
import { decider, fact, type HappenedWith } from '../../writing/decider.ts'

export type PinCommand = { readonly verb: 'pin'; readonly ref: string } | { readonly verb: 'unpin' }

export const pin = decider<PinRow, PinCommand>({
  table: 'pins',

  decide: {
    pin: (row, { ref }) => (row ? [] : [fact('value.pinned', { ref })]),
    unpin: (row) => (row ? [fact('value.unpinned', {})] : []),
  },

  evolve: {
    'value.pinned': (_, e: HappenedWith<{ readonly ref: string }>) => e.data && { id: e.subject as Id<'pin'>, ref: e.data.ref },
    'value.unpinned': () => undefined,
  },
})
