// An event of a process is recorded once under its number, and removed with the process. Its key is taken as long as the event exists.

import { canonical } from '../../../model/canonical.ts'
import { refuse } from '../../../model/errors.ts'
import type { ProcessEventRow, ProcessId } from '../../../model/process.ts'
import { decider, fact } from '../../writing/decider.ts'

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
          // A second event with the same key finds the name taken.
          ...(dedupe !== undefined && wake?.offered ? [['process-wake', wake.id as string] as const] : []),
        ],

  decide: {
    // Another writer took this number: the caller retries with the next one.
    record: (row, { id, event }) => {
      if (row) throw refuse('CONFLICT', { table: 'process_events', id, tries: 1 })
      return [fact('process-event.recorded', { ...event })]
    },
    prune: (row) => (row ? [fact('process-event.pruned', {})] : []),
  },

  evolve: {
    // An erased event belongs to no process, but its number stays taken, so that no number is given twice.
    'process-event.recorded': (_, e) => ({ ...(e.data as Partial<ProcessEventRow> | undefined), at: e.at }),
    'process-event.pruned': () => undefined,
  },
})
