// A job: what is to happen, when, and how far that has been decided. The occurrence that came up and the next time are one fact.

import { canonical } from '../../model/canonical.ts'
import { refuse } from '../../model/errors.ts'
import type { JobRow, OccurrenceAt, OccurrenceId } from '../../model/job.ts'
import { decider, fact, type HappenedWith } from '../decider.ts'

/** What somebody asked for. */
export type JobDefinition = Pick<JobRow, 'name' | 'schedule' | 'policy' | 'queue' | 'payload' | 'offer' | 'pauseAfter'>

/** How far it is decided, and when to look again. */
export type JobTimes = Pick<JobRow, 'through' | 'next' | 'at'>

export type JobCommand =
  | { readonly verb: 'set'; readonly definition: JobDefinition; readonly times: JobTimes; readonly over?: boolean }
  /** As it was seen: whoever was second finds that it has moved on. */
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
      /** The one that runs; where everything may overlap, any. */
      readonly occurrence: OccurrenceId
      readonly failed: boolean
      /** Which one was seen waiting; it begins now, unless the job is paused by this. */
      readonly waiting: OccurrenceId | undefined
      /** Where the next time is counted from this end. */
      readonly times?: JobTimes
    }
  | { readonly verb: 'pause'; readonly name: string; readonly reason: string }
  /** Over, where its one time went by meanwhile. */
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
      // Erased, nobody can say any more what it was; that there was one still shows.
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
      // Where everything may overlap, one of those ended that nobody waits for.
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
