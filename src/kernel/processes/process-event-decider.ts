// What a process says is recorded once under its number, and goes with the process. Keys of events are kept as long as the events.

import { canonical } from '../../model/canonical.ts'
import { refuse } from '../../model/errors.ts'
import type { ProcessEventRow, ProcessId } from '../../model/process.ts'
import { decider, fact } from '../decider.ts'

export type RecordedEvent = Omit<ProcessEventRow, 'at'> & { readonly process: ProcessId; readonly number: number; readonly type: string }

export type ProcessEventCommand =
  | { readonly verb: 'record'; readonly id: string; readonly event: RecordedEvent }
  | { readonly verb: 'prune' }

export const eventKeyName = (id: ProcessId, key: string): string => canonical([id, key])

export const processEvent = decider<ProcessEventRow, ProcessEventCommand>({
  table: 'process_events',
  names: ({ process: of, key, dedupe, wake }) =>
    of === undefined
      ? []
      : [
          ...(key === undefined ? [] : [['process-event', eventKeyName(of, key)] as const]),
          // Whoever comes second finds it taken.
          ...(dedupe !== undefined && wake?.offered ? [['process-wake', wake.id as string] as const] : []),
        ],

  decide: {
    // Somebody was quicker with this number: what comes next is said under the next.
    record: (row, { id, event }) => {
      if (row) throw refuse('CONFLICT', { table: 'process_events', id, tries: 1 })
      return [fact('process-event.recorded', { ...event })]
    },
    prune: (row) => (row ? [fact('process-event.pruned', {})] : []),
  },

  evolve: {
    // Erased, it is nobody's; its place stays taken, so that no number is given twice.
    'process-event.recorded': (_, e) => ({ ...(e.data as Partial<ProcessEventRow> | undefined), at: e.at }),
    'process-event.pruned': () => undefined,
  },
})
