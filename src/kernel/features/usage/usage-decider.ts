// Usage adds up in one row per session, source, model and UTC hour.

import type { Id, RunId, SessionId } from '../../../model/ids.ts'
import type { Usage, UsageAdded, UsageRow } from '../../../model/usage.ts'
import { derivedId } from '../../naming/derived-id.ts'
import type { Scope } from '../../wiring/scope.ts'
import { decider, fact, type HappenedWith } from '../../writing/decider.ts'
import { type Part, part } from '../../writing/execute.ts'
import { addUpTo, countsOf, NO_USAGE } from './ledger.ts'

export interface UsageCommand {
  readonly verb: 'add'
  readonly added: UsageAdded
}

const HOUR_MS = 3_600_000

/** Returns the beginning of the UTC hour, in Unix milliseconds. */
export const hourOf = (at: number): number => Math.floor(at / HOUR_MS) * HOUR_MS

/** Returns the beginning of the first UTC hour that lies after all of this time. */
export const hourAfter = (at: number): number => Math.ceil(at / HOUR_MS) * HOUR_MS

export const usage = decider<UsageRow, UsageCommand>({
  table: 'usage',
  // An erasure takes the labels, which callers chose. The counts stay, so that totals do not shrink.
  keeps: ({ session, hour, overflow, ...counts }) => ({ session, hour, overflow, ...countsOf(counts) }),

  decide: { add: (_, { added }) => [fact('usage.added', { ...added })] },

  evolve: {
    'usage.added': (row, e: HappenedWith<UsageAdded>) => {
      const before: UsageRow = row ?? {
        id: e.subject as Id<'usage'>,
        session: '' as SessionId,
        hour: hourOf(e.at),
        source: '',
        model: '',
        ...NO_USAGE,
      }
      if (!e.data) return before
      const { session, hour, source, model } = e.data
      return { ...before, session, hour, source, model, ...addUpTo(before, e.data) }
    },
  },
})

/** Counts usage of a session, in the commit that records it. The events do not belong to the session: they outlive it. */
export function usagePart(scope: Scope, session: SessionId, run: RunId | undefined, used: Usage, at: number): Part<UsageRow> {
  const hour = hourOf(at)
  const mask = (label: string) => scope.engine.redactor?.text(label) ?? label
  const [source, model] = [mask(used.source), mask(used.model)]
  const id = derivedId<'usage'>(scope, `usage/${session}/${hour}/${JSON.stringify([source, model])}`)
  return part(usage, id, { verb: 'add', added: { session, ...(run && { run }), hour, ...countsOf(used), source, model } })
}
