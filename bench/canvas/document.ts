// A document as an agent keeps it, and small patches of it.

import type { PatchOperation } from '../../src/index.ts'

const ITEMS = 40

/** About 4 KB of JSON. */
export const document = () => ({
  title: 'Release 2.14',
  steps: Array.from({ length: ITEMS }, (_, n) => ({ n, title: `step ${n}: look at the notes again`, state: 'open', by: 'agent/planner' })),
})

export const patch = (i: number): readonly PatchOperation[] => [
  { op: 'replace', path: `/steps/${i % ITEMS}/state`, value: i % 2 === 0 ? 'done' : 'open' },
  { op: 'add', path: `/steps/${i % ITEMS}/at`, value: i },
]

/** No bound on updates, so that the store is measured and not the limit. */
export const FREE = { updatesPerMinute: Infinity }
