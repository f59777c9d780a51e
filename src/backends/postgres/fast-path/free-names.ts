// Names that must be free for a batch. A commit that takes a name guards the digest of the erased name too, which no node can know: it is
// another one each time.

import type { Guard } from '../../../ports/commit.ts'
import { texts } from '../arrays.ts'
import { type Addition, counted } from './addition.ts'

export const isFreeName = (guard: Guard): boolean => guard.kind === 'row' && guard.table === 'names' && guard.revision === 0

/** The statement's snapshot is enough to look: names change with events, so none has changed if the head has not moved. */
export const freeNames = (ids: readonly string[]): Addition => ({
  shape: `free${counted('!', ids)}`,
  count: ids.length,
  values: [ids.length === 1 ? (ids[0] as string) : texts(ids)],
  text: (place) => {
    const brought = ids.length === 1 ? `(select ${place()}::text as id) as f` : `unnest(${place()}::text[]) as f (id)`
    const holder = `select s.id from inkfast.names s where s.tenant = m.tenant and s.id between f.id and f.id order by s.id limit 1`
    return { parts: [], counts: [`(\n    select count(*) from ${brought}, moved m where (${holder}) is null)`] }
  },
})
