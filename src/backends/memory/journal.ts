// Pages of the journal, by walking it.

import { sameBytes } from '../../model/bytes.ts'
import { GENESIS } from '../../model/chain.ts'
import { type EventRecord, matchesType } from '../../model/event.ts'
import { compareText } from '../../model/order.ts'
import type { JournalReads, Page, PageQuery } from '../../ports/journal.ts'
import { activeTenant, type MemoryState } from './state.ts'

export function journalReads(state: MemoryState): JournalReads {
  return {
    head: async (tenant) => {
      const known = state.tenants.get(tenant)
      const last = known?.events.at(-1)
      return { seq: last?.seq ?? 0, hash: last?.hash ?? GENESIS, state: known?.state ?? 'active' }
    },
    page: async (tenant, query) => readPage(activeTenant(state, tenant).events, query),
    tenants: async ({ after = '', limit } = {}) =>
      [...state.tenants]
        .filter(([id, t]) => t.events.length > 0 && compareText(id, after) > 0)
        .map(([id]) => id)
        .sort(compareText)
        .slice(0, limit),
  }
}

function readPage(all: readonly EventRecord[], query: PageQuery): Page {
  const step = query.backwards ? -1 : 1
  const end = query.backwards ? Math.max(query.to ?? 1, 1) : Math.min(query.to ?? all.length, all.length)
  const events: EventRecord[] = []
  let bytes = 0
  let seq = query.backwards ? Math.min(query.from, all.length + 1) : query.from
  const within = (next: number) => (query.backwards ? next >= end : next <= end)
  while (within(seq + step)) {
    if (events.length === query.limit || (events.length > 0 && bytes >= (query.bytes ?? Infinity)))
      return { events, through: seq, more: true }
    seq += step
    const event = all[seq - 1] as EventRecord
    if (!matches(event, query)) continue
    events.push(event)
    bytes += event.payload?.length ?? 0
  }
  return { events, through: query.backwards ? Math.min(seq, end) : Math.max(seq, end), more: false }
}

function matches(e: EventRecord, q: PageQuery): boolean {
  if (q.id !== undefined && e.id !== q.id) return false
  if (q.key !== undefined && !(e.key && e.subject === undefined && sameBytes(e.key, q.key))) return false
  if (q.session !== undefined && e.session !== q.session) return false
  if (q.run !== undefined && e.run !== q.run) return false
  if (q.subject !== undefined && e.subject !== q.subject) return false
  if (q.actor !== undefined && e.actor !== q.actor) return false
  if (q.since !== undefined && e.at < q.since) return false
  if (q.until !== undefined && e.at >= q.until) return false
  return q.types === undefined || matchesType(e.type, q.types)
}
