// A process is registered once, started once, waits and goes on, and ends once. An ended process never changes.

import { canonical } from '../../../model/canonical.ts'
import type { Json } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import type { SessionId } from '../../../model/ids.ts'
import {
  CORE_TYPES,
  type Definition,
  type Ending,
  type Evidence,
  hasEnded,
  type ProcessId,
  type ProcessRow,
  type ProcessWait,
  type Reference,
  type Started,
} from '../../../model/process.ts'
import type { ErrorData, Stored } from '../../../model/run.ts'
import { decider, fact, type Happened, type HappenedWith } from '../../writing/decider.ts'

export type Outcome =
  | { readonly state: 'completed'; readonly value: Stored; readonly control?: Json }
  | { readonly state: 'failed'; readonly error: ErrorData }
  | { readonly state: 'cancelled'; readonly reason: string }
  | { readonly state: 'abandoned'; readonly evidence: Evidence }

export type ProcessCommand =
  | { readonly verb: 'register'; readonly set: Definition & { readonly name: string } }
  | { readonly verb: 'start'; readonly id: ProcessId; readonly by: Omit<Started, 'at'> }
  | { readonly verb: 'wait'; readonly id: ProcessId; readonly kind: string; readonly on?: Json }
  | { readonly verb: 'resume'; readonly id: ProcessId }
  | { readonly verb: 'refer'; readonly id: ProcessId; readonly reference: Reference }
  | { readonly verb: 'request'; readonly id: ProcessId; readonly what: 'cancel' | 'abandon'; readonly reason: string }
  | { readonly verb: 'end'; readonly id: ProcessId; readonly outcome: Outcome }
  /** The session that was to be woken was deleted. */
  | { readonly verb: 'unwake'; readonly session: SessionId }
  | { readonly verb: 'prune' }

/** Returns the process if it has not ended. Throws otherwise. */
export function going(row: ProcessRow | undefined, id: ProcessId): ProcessRow {
  if (!row) throw refuse('PROCESS_UNKNOWN', { process: id })
  if (hasEnded(row.state)) throw refuse('PROCESS_FINISHED', { process: id, name: row.name, state: row.state })
  return row
}

export const sameWait = (a: Pick<ProcessWait, 'kind' | 'on'>, b: Pick<ProcessWait, 'kind' | 'on'>): boolean =>
  a.kind === b.kind && canonical([a.on ?? null]) === canonical([b.on ?? null])

const sameReference = (a: Reference, b: Reference): boolean => canonical(a) === canonical(b)

const REQUESTED = { cancel: CORE_TYPES.cancelRequested, abandon: CORE_TYPES.abandonRequested } as const

const changed = (row: ProcessRow, e: Happened, set: Partial<ProcessRow>): ProcessRow => ({ ...row, ...set, changedAt: e.at })

const requested = (what: 'cancel' | 'abandon') => (row: ProcessRow | undefined, e: Happened) =>
  row && changed(row, e, { [what]: { reason: String(e.data?.reason ?? ''), at: e.at, ...(e.actor !== '' && { by: e.actor }) } })

const ended = (state: Ending) => (row: ProcessRow | undefined, e: Happened) => {
  const { state: _, ...outcome } = (e.data ?? {}) as Partial<ProcessRow>
  return row && changed(row, e, { ...outcome, state, wait: undefined, endedAt: e.at })
}

export const processDecider = decider<ProcessRow, ProcessCommand>({
  table: 'processes',
  // An erased registration has no name.
  names: (row) => (row.name === '' ? [] : [['process', row.name]]),
  keeps: () => ({}),

  decide: {
    register: (row, { set }) => (row ? [] : [fact('process.registered', { ...set })]),
    // The first start counts, also when the process has ended since.
    start: (row, { id, by }) => (row?.started ? [] : going(row, id) && [fact('process.started', { ...by })]),
    wait: (row, { id, kind, on }) => (going(row, id) ? [fact(CORE_TYPES.waiting, { kind, ...(on !== undefined && { on }) })] : []),
    resume: (row, { id }) => (going(row, id) ? [fact(CORE_TYPES.resumed, {})] : []),
    refer: (row, { id, reference }) => {
      if (!row?.reference) return going(row, id) && [fact('process.referred', { ...reference })]
      if (sameReference(row.reference, reference)) return []
      throw refuse('PROCESS_REFERENCE_SET', { process: id, name: row.name, state: row.state, ...row.reference })
    },
    request: (row, { id, what, reason }) => (going(row, id) ? [fact(REQUESTED[what], { reason })] : []),
    end: (row, { id, outcome }) => {
      going(row, id)
      const { state, ...rest } = outcome
      return [fact(CORE_TYPES[state], { ...rest })]
    },
    unwake: (row, { session }) => (row?.wake === session ? [fact('process.unwoken', {})] : []),
    prune: (row) => (row && hasEnded(row.state) ? [fact('process.pruned', {})] : []),
  },

  // An erased fact still moves the state; only its payload is gone. An erased registration leaves a process that nobody runs.
  evolve: {
    'process.registered': (_, e) => ({
      name: '',
      kind: '',
      recovery: 'external',
      ...(e.data as Partial<ProcessRow> | undefined),
      id: e.subject as ProcessId,
      state: 'pending',
      registeredAt: e.at,
      changedAt: e.at,
    }),
    'process.started': (row, e) => {
      const started = { owner: '', ...(e.data as Partial<Started> | undefined), at: e.at }
      return row && changed(row, e, { started, state: row.wait ? 'waiting' : 'running' })
    },
    [CORE_TYPES.waiting]: (row, e) => {
      const wait = { kind: '', ...(e.data as { readonly kind: string; readonly on?: Json } | undefined), since: e.at }
      return row && changed(row, e, { wait, state: 'waiting' })
    },
    [CORE_TYPES.resumed]: (row, e) => row && changed(row, e, { wait: undefined, state: row.started ? 'running' : 'pending' }),
    'process.referred': (row, e: HappenedWith<Reference>) => row && changed(row, e, { reference: e.data }),
    [CORE_TYPES.cancelRequested]: requested('cancel'),
    [CORE_TYPES.abandonRequested]: requested('abandon'),
    [CORE_TYPES.completed]: ended('completed'),
    [CORE_TYPES.failed]: ended('failed'),
    [CORE_TYPES.cancelled]: ended('cancelled'),
    [CORE_TYPES.abandoned]: ended('abandoned'),
    'process.unwoken': (row, e) => row && changed(row, e, { wake: undefined, wakeWas: row.wake }),
    // The journal keeps what is gone from the rows.
    'process.pruned': () => undefined,
  },
})
