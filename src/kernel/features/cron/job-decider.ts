// A job: its definition, its schedule, and the time up to which it is decided. The occurrence that came up and the next time are one fact.

import { canonical } from '../../../model/canonical.ts'
import { refuse } from '../../../model/errors.ts'
import type { JobRow, OccurrenceAt, OccurrenceId } from '../../../model/job.ts'
import { decider, fact, type HappenedWith } from '../../writing/decider.ts'

/** The definition of a job, as a caller gave it. */
export type JobDefinition = Pick<JobRow, 'name' | 'schedule' | 'policy' | 'queue' | 'payload' | 'offer' | 'pauseAfter'>

/** The time up to which the job is decided, and when to look again. */
export type JobTimes = Pick<JobRow, 'through' | 'next' | 'at'>

export type JobCommand =
  | { readonly verb: 'set'; readonly definition: JobDefinition; readonly times: JobTimes; readonly over?: boolean }
  /** `seen` is how far the job was decided when it was read. A second node finds that it has moved on. */
  | {
      readonly verb: 'fire'
      readonly seen: number
      readonly times: JobTimes
      readonly running?: OccurrenceAt | undefined
      readonly waiting?: OccurrenceAt | undefined
      readonly over: boolean
    }
  | {
      readonly verb: 'settle'
      /** The occurrence that runs; any of them when occurrences may overlap. */
      readonly occurrence: OccurrenceId
      readonly failed: boolean
      /** The occurrence that was seen waiting. It begins now, unless this failure pauses the job. */
      readonly waiting: OccurrenceId | undefined
      /** The next times, when they are counted from this end. */
      readonly times?: JobTimes
    }
  | { readonly verb: 'pause'; readonly name: string; readonly reason: string }
  /** `over`: the job's only time passed while it was paused. */
  | { readonly verb: 'resume'; readonly name: string; readonly times: JobTimes; readonly over: boolean }
  | { readonly verb: 'remove'; readonly name: string }

const moved = (name: string) => refuse('CONFLICT', { table: 'jobs', id: name, tries: 1 })

export const job = decider<JobRow, JobCommand>({
  table: 'jobs',

  decide: {
    set: (row, { definition, times, over }) =>
      row && isSame(row, definition) ? [] : [fact('job.set', { ...definition, ...times, ...(over && { over }) })],
    fire: (row, { seen, times, running, waiting, over }) => {
      if (row?.state !== 'active' || row.through !== seen) throw moved(row?.name ?? '')
      return [fact('job.fired', { ...times, ...(running && { running }), ...(waiting && { waiting }), ...(over && { over }) })]
    },
    settle: (row, { occurrence, failed, waiting, times }) => {
      const known = row?.running?.id === occurrence || row?.policy.overlap === 'allow'
      if (!row || !known || row.waiting?.id !== waiting) throw moved(row?.name ?? '')
      const [pauses, drops] = [pausesOn(row, failed), row.state === 'paused']
      return [fact('job.settled', { occurrence, failed, ...(times && { times }), ...(pauses && { pauses }), ...(drops && { drops }) })]
    },
    pause: (row, { name, reason }) => {
      if (!row) throw refuse('JOB_UNKNOWN', { name })
      return row.state === 'active' ? [fact('job.paused', { reason })] : []
    },
    resume: (row, { name, times, over }) => {
      if (!row) throw refuse('JOB_UNKNOWN', { name })
      return row.state === 'paused' ? [fact('job.resumed', { ...times, ...(over && { over }) })] : []
    },
    remove: (row, { name }) => {
      if (!row) throw refuse('JOB_UNKNOWN', { name })
      return [fact('job.removed', {})]
    },
  },

  evolve: {
    'job.set': (row, e: HappenedWith<JobDefinition & JobTimes & Over>) => {
      // An erased definition leaves a job that never runs, so that its id stays known.
      if (!e.data) return row ?? { ...NOTHING, id: e.subject as JobRow['id'], setAt: e.at, changedAt: e.at }
      const { next, at, over, ...set } = e.data
      const kept = { failures: 0, running: row?.running, waiting: row?.waiting, setAt: row?.setAt ?? e.at }
      const state =
        row?.state === 'paused' ? { state: row.state, reason: row.reason } : { state: over ? ('over' as const) : ('active' as const) }
      return { ...set, ...kept, ...state, next, at, id: e.subject as JobRow['id'], changedAt: e.at }
    },
    'job.fired': (row, e: HappenedWith<Partial<JobRow> & Over>) => {
      if (!row) return row
      const { through = row.through, next, at, running, waiting, over } = e.data ?? {}
      return { ...row, through, next, at, running, waiting, ...(over && { state: 'over' }) }
    },
    'job.settled': (row, e: HappenedWith<Settled>) => {
      if (!row) return row
      const { occurrence, failed, times, pauses, drops } = e.data ?? {}
      const failures = failed ? row.failures + 1 : 0
      // An occurrence that overlaps others may end without being the one that the job waits for.
      const ended = occurrence === undefined || row.running?.id === occurrence
      const follows = ended ? { running: pauses || drops ? undefined : row.waiting, waiting: undefined } : {}
      const settled = { ...row, ...times, failures, ...follows }
      return pauses ? asPaused(settled, `${failures} failed in a row`) : settled
    },
    'job.paused': (row, e) => row && asPaused(row, String(e.data?.reason ?? '')),
    'job.resumed': (row, e: HappenedWith<Partial<JobTimes> & Over>) => {
      if (!row) return row
      const { over, ...times } = e.data ?? {}
      return { ...row, ...times, state: over ? 'over' : 'active', reason: undefined, failures: 0 }
    },
    'job.removed': () => undefined,
  },
})

const NOTHING: Omit<JobRow, 'id' | 'setAt' | 'changedAt'> = {
  name: '',
  state: 'over',
  schedule: { kind: 'at', at: 0 },
  policy: { overlap: 'forbid', missed: 'skip', jitter: 0 },
  queue: '',
  offer: {},
  failures: 0,
  through: 0,
}

interface Over {
  readonly over?: boolean
}

interface Settled {
  readonly occurrence?: OccurrenceId
  readonly failed?: boolean
  readonly times?: JobTimes
  readonly pauses?: boolean
  readonly drops?: boolean
}

export const pausesOn = ({ pauseAfter, failures }: JobRow, failed: boolean): boolean =>
  failed && pauseAfter !== undefined && failures + 1 >= pauseAfter

const asPaused = (row: JobRow, reason: string): JobRow => ({ ...row, state: 'paused', next: undefined, at: undefined, reason })

export const isSame = (row: JobRow, definition: JobDefinition): boolean =>
  canonical(definitionOf(row)) === canonical(definitionOf(definition))

const definitionOf = ({ name, schedule, policy, queue, payload, offer, pauseAfter }: JobDefinition) =>
  JSON.parse(JSON.stringify({ name, schedule, policy, queue, payload, offer, pauseAfter })) as object
