// A block of core memory is set as a whole. Versions count its changes.

import type { Id } from '../../../model/ids.ts'
import type { CoreRow } from '../../../model/memory.ts'
import { decider, fact, type HappenedWith } from '../../writing/decider.ts'

type CoreSet = Pick<CoreRow, 'owner' | 'session' | 'name' | 'text' | 'limit'>

export type CoreCommand =
  /** Made from the block as it is when the commit is decided, and again when another writer was first. */
  | { readonly verb: 'set'; readonly make: (row: CoreRow | undefined) => CoreSet }
  /** The block is empty, and goes on counting: an expected version never matches an older text. */
  | { readonly verb: 'reset' }
  /** The block goes with its session. */
  | { readonly verb: 'clear' }
  /** A fork begins with the block as it stood, with its version. */
  | { readonly verb: 'copy'; readonly block: CoreSet & Pick<CoreRow, 'version'> }

export const coreBlock = decider<CoreRow, CoreCommand>({
  table: 'core',

  decide: {
    set: (row, { make }) => {
      const block = make(row)
      return row?.text === block.text && row?.limit === block.limit ? [] : [fact('core.set', { ...block })]
    },
    reset: (row) => (row?.text === undefined ? [] : [fact('core.reset', {})]),
    clear: (row) => (row ? [fact('core.cleared', {})] : []),
    copy: (_, { block }) => [fact('core.set', { ...block })],
  },

  evolve: {
    'core.set': (row, e: HappenedWith<CoreSet & { readonly version?: number }>) => ({
      owner: '',
      name: '',
      limit: 0,
      ...row,
      ...e.data,
      id: e.subject as Id<'core'>,
      version: e.data?.version ?? (row?.version ?? 0) + 1,
      changedAt: e.at,
    }),
    'core.reset': (row, e) => {
      const { text: _, ...rest } = row ?? {}
      return row && { ...(rest as CoreRow), version: row.version + 1, changedAt: e.at }
    },
    'core.cleared': () => undefined,
  },
})
