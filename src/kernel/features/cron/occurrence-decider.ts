// An occurrence: one time of a job, and its outcome. There is one for each job and time, so that none can happen twice.

import { refuse } from '../../../model/errors.ts'
import type { OccurrenceRow, OccurrenceState } from '../../../model/job.ts'
import { decider, fact, type HappenedWith } from '../../writing/decider.ts'

type Opened = Pick<OccurrenceRow, 'job' | 'due' | 'cause' | 'state' | 'last' | 'count' | 'error'>

export type OccurrenceCommand =
  | ({ readonly verb: 'open'; readonly id: string } & Opened)
  | { readonly verb: 'start'; readonly attempt: number }
  /** The item is back in its queue: released, failed with attempts left, or redriven after it was dead. */
  | { readonly verb: 'await'; readonly error?: OccurrenceRow['error'] }
  | {
      readonly verb: 'finish'
      readonly state: Extract<OccurrenceState, 'done' | 'failed' | 'cancelled' | 'skipped'>
      readonly error?: OccurrenceRow['error']
    }
  | { readonly verb: 'forget' }

export const occurrence = decider<OccurrenceRow, OccurrenceCommand>({
  table: 'occurrences',

  decide: {
    open: (row, { verb: _, id, ...opened }) => {
      if (row) throw refuse('CONFLICT', { table: 'occurrences', id, tries: 1 })
      return [fact('occurrence.opened', opened)]
    },
    start: (row, { attempt }) => (row ? [fact('occurrence.started', { attempt })] : []),
    await: (row, { error }) => (row ? [fact('occurrence.awaited', error ? { error } : {})] : []),
    finish: (row, { state, error }) =>
      row && (row.state === 'waiting' || row.state === 'running') ? [fact('occurrence.finished', { state, ...(error && { error }) })] : [],
    forget: (row) => (row ? [fact('occurrence.forgotten', {})] : []),
  },

  evolve: {
    'occurrence.opened': (_, e: HappenedWith<Opened>) => {
      if (!e.data) return undefined
      const isOver = e.data.state === 'skipped' || e.data.state === 'missed'
      return { ...e.data, id: e.subject as OccurrenceRow['id'], attempt: 0, ...(isOver && { finishedAt: e.at }) }
    },
    'occurrence.started': (row, e) => {
      if (!row) return row
      return { ...row, state: 'running', attempt: (e.data?.attempt as number | undefined) ?? row.attempt, startedAt: row.startedAt ?? e.at }
    },
    'occurrence.awaited': (row, e) =>
      row && { ...row, state: 'waiting', finishedAt: undefined, error: e.data?.error as OccurrenceRow['error'] },
    'occurrence.finished': (row, e) => {
      if (!row) return row
      const { state = 'done', error } = (e.data ?? {}) as Partial<OccurrenceRow>
      return { ...row, state, error, finishedAt: e.at }
    },
    'occurrence.forgotten': () => undefined,
  },
})
