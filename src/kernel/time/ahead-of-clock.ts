// Finds events and work items whose times lie ahead of the store's clock. A clock that was wrong left them: such an item waits until its time.

import type { EventId } from '../../model/ids.ts'
import { decodeBody } from '../../model/rows.ts'
import { stopIfAsked } from '../reading/abortable.ts'
import { everyRow } from '../reading/every-row.ts'
import { checkOpen, type Scope } from '../wiring/scope.ts'
import { storeNow } from './store-time.ts'

export interface AheadEvent {
  readonly seq: number
  readonly id: EventId
  readonly type: string
  readonly at: number
}

export interface AheadItem {
  readonly queue: string
  readonly id: string
  /** When the item is due. */
  readonly at: number
  readonly offeredAt?: number
}

export interface AheadReport {
  /** The store's clock. */
  readonly now: number
  /** The newest events that are more than a minute ahead. */
  readonly events: readonly AheadEvent[]
  /** Items that were offered more than a minute ahead, or that are due in more than thirty days; by queue, farthest first. */
  readonly items: readonly AheadItem[]
}

// Clocks that are synchronised differ by less.
const EVENT_AHEAD_MS = 60_000
const DUE_AHEAD_MS = 30 * 86_400_000
const TOLD = 20
const AT_A_TIME = 200
const LOOKED_AT = 1000

export async function ahead(scope: Scope): Promise<AheadReport> {
  checkOpen(scope.engine)
  const now = await storeNow(scope)
  return { now, events: await eventsAhead(scope, now + EVENT_AHEAD_MS), items: await itemsAhead(scope, now) }
}

async function eventsAhead(scope: Scope, since: number): Promise<readonly AheadEvent[]> {
  const { journal } = scope.engine.backend
  const found: AheadEvent[] = []
  for (let from = (await journal.head(scope.tenant)).seq + 1, more = true; more && found.length < TOLD; ) {
    stopIfAsked(scope)
    const page = await journal.page(scope.tenant, { from, backwards: true, since, limit: TOLD - found.length })
    found.push(...page.events.map(({ seq, id, type, at }) => ({ seq, id, type, at })))
    from = page.through
    more = page.more
  }
  return found
}

async function itemsAhead(scope: Scope, now: number): Promise<readonly AheadItem[]> {
  const found: AheadItem[] = []
  for (const { queue } of await scope.engine.backend.queries.backlog(scope.tenant)) {
    const range = { index: 'byDue', equals: [queue], from: now + EVENT_AHEAD_MS, backwards: true, limit: AT_A_TIME }
    let [looked, told] = [0, 0]
    for await (const { id, body } of everyRow(scope, 'work', range)) {
      const { at, offeredAt, state } = decodeBody(body, { id })
      const wrong = at !== undefined && (at > now + DUE_AHEAD_MS || (offeredAt ?? 0) > now + EVENT_AHEAD_MS)
      if (wrong && state !== 'claimed') {
        found.push({ queue, id, at, ...(offeredAt !== undefined && { offeredAt }) })
        told++
      }
      if (++looked === LOOKED_AT || told === TOLD) break
    }
  }
  return found
}
