// A forked session begins with the events of its parent, up to the seq of the fork. Its own events come after that, so one walk in the order of
// seq reads both, and nothing is copied.

import { refuse } from '../../model/errors.ts'
import type { SessionId } from '../../model/ids.ts'
import type { SessionRelation, SessionRow } from '../../model/session.ts'
import type { Page, PageQuery } from '../../ports/journal.ts'
import { readSessionRow } from '../session/session-row.ts'
import type { Scope } from '../wiring/scope.ts'
import type { DoneRow } from '../writing/execute.ts'

/** The sessions of a line, oldest first. All but the last end at a seq. */
export type Lineage = readonly { readonly session: SessionId; readonly to: number }[]

export async function lineageOf(scope: Scope, session: SessionId): Promise<Lineage> {
  const line = [{ session, to: Number.MAX_SAFE_INTEGER }]
  for (let id: SessionId | undefined = session, least = Number.MAX_SAFE_INTEGER; id; ) {
    const { body }: DoneRow<SessionRow> = await readSessionRow(scope, id)
    const relation: SessionRelation | undefined = body?.relation
    if (relation?.kind !== 'fork' || relation.at === undefined) break
    least = Math.min(least, relation.at)
    line.unshift({ session: relation.session, to: least })
    id = relation.session
  }
  return line
}

/** Throws RANGE_INVALID for a seq beyond the end of the journal. */
export async function checkWritten({ engine, tenant }: Scope, seq: number): Promise<void> {
  const { seq: head } = await engine.backend.journal.head(tenant)
  if (seq > head) throw refuse('RANGE_INVALID', { why: `the journal ends at seq ${head}, and ${seq} is beyond it` })
}

/** Reads one page along the line. */
export async function pageAlong({ engine, tenant }: Scope, line: Lineage, query: PageQuery): Promise<Page> {
  const { from, to, backwards } = query
  const last = line.length - 1
  // The session that holds the next event: the first that reaches beyond `from`, or the last that begins before it.
  const at = backwards ? line.findLastIndex((_, i) => (line[i - 1]?.to ?? 0) + 1 < from) : line.findIndex((one) => one.to > from)
  const i = at < 0 ? (backwards ? 0 : last) : at
  const { session, to: end } = line[i] as Lineage[number]
  const begin = line[i - 1]?.to ?? 0
  const limit = backwards ? Math.max(to ?? 0, begin + 1) : Math.min(to ?? end, end)
  const page = await engine.backend.journal.page(tenant, { ...query, session, ...(limit < Number.MAX_SAFE_INTEGER && { to: limit }) })
  const more = backwards ? i > 0 && begin >= (to ?? 1) : i < last && end < (to ?? Number.MAX_SAFE_INTEGER)
  if (page.more || !more) return page
  return { events: page.events, through: backwards ? begin + 1 : end, more: true }
}
