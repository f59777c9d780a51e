// A run opens once, is taken up as often as needed, waits, and ends once. An ended run never changes.

import { canonical } from '../../../model/canonical.ts'
import type { CheckpointManifest } from '../../../model/checkpoint.ts'
import { refuse } from '../../../model/errors.ts'
import type { RunId } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import {
  type Claimed,
  type ErrorData,
  isOver,
  RUN_MOVES,
  type RunRow,
  type RunState,
  type Slot,
  type Stored,
  type TakeKind,
  type Wait,
} from '../../../model/run.ts'
import type { Usage } from '../../../model/usage.ts'
import { decider, fact, type Happened, type HappenedWith } from '../../writing/decider.ts'
import { addUsage } from '../usage/ledger.ts'
import { slotOf } from './program/call.ts'

export type Opened = Pick<
  RunRow,
  'session' | 'name' | 'key' | 'input' | 'parallel' | 'parent' | 'queued' | 'fork' | 'origin' | 'checkpoint'
>

/** How many calls the tape answered in the attempt that ends here. Absent if the writer did not execute the program. */
interface Attempted {
  readonly replayed?: number
}

export type RunCommand =
  | { readonly verb: 'open'; readonly set: Opened }
  /** A node or caller takes the run up. `set` opens it first, if it does not exist yet. */
  | { readonly verb: 'begin'; readonly id: RunId; readonly set?: Opened }
  | { readonly verb: 'wait'; readonly id: RunId; readonly wait: Wait }
  | { readonly verb: 'endWait'; readonly id: RunId; readonly wait: WaitSlot; readonly outcome: Readonly<Record<string, unknown>> }
  /** The run is released until what it waits for has come. */
  | ({ readonly verb: 'park'; readonly id: RunId } & Attempted)
  /** The program no longer fits the tape. */
  | ({ readonly verb: 'halt'; readonly id: RunId; readonly error: ErrorData } & Attempted)
  | { readonly verb: 'use'; readonly id: RunId; readonly slot: Slot; readonly usage: Usage; readonly overflow?: true }
  /** A person says how an effect with an unknown outcome ended. */
  | {
      readonly verb: 'resolve'
      readonly id: RunId
      readonly effect: string
      /** Selects one of several effects of that name. */
      readonly only: { readonly branch?: string | undefined; readonly ordinal?: number | undefined; readonly epoch?: number | undefined }
      readonly told: { readonly result: Stored } | { readonly error: ErrorData }
    }
  /** The run saves a checkpoint, which ends the epoch of its slot. */
  | {
      readonly verb: 'checkpoint'
      readonly id: RunId
      readonly slot: Slot
      readonly now: number
      readonly manifest: CheckpointManifest
    }
  | { readonly verb: 'seal'; readonly id: RunId; readonly entries: number }
  /** An input was offered to the run. */
  | { readonly verb: 'prompt'; readonly id: RunId; readonly input: string }
  /** The run took inputs or claimed inbox items of its session. */
  | {
      readonly verb: 'take'
      readonly id: RunId
      readonly slot: Slot
      readonly kind: TakeKind
      readonly outcome: Readonly<Record<string, unknown>>
    }
  // `holdings` is what the run held when it was read. The parts that are written with the end settle exactly that.
  | ({ readonly verb: 'finish'; readonly id: RunId; readonly holdings: string; readonly result: Stored } & Attempted)
  | ({ readonly verb: 'fail'; readonly id: RunId; readonly holdings: string; readonly error: ErrorData } & Attempted)
  | ({ readonly verb: 'cancel'; readonly id: RunId; readonly holdings: string; readonly reason: string } & Attempted)

/** Returns the run if it may move to this state. Throws otherwise. */
export function moving(row: RunRow | undefined, id: RunId, wanted: RunState): RunRow {
  if (!row) throw refuse('RUN_UNKNOWN', { run: id, tenant: '' })
  if (isOver(row.state)) throw refuse('RUN_FINISHED', { run: id, name: row.name, state: row.state })
  if (!RUN_MOVES[row.state].includes(wanted)) throw refuse('RUN_STATE', { run: id, name: row.name, state: row.state, wanted })
  return row
}

/** A text that changes with every input for the run, and with every claim that it makes, completes or releases. */
export const holdingsOf = ({ prompted = 0, claims = [] }: RunRow): string => `${prompted}/${claims.map(({ id }) => id).join()}`

const ending = (row: RunRow | undefined, id: RunId, wanted: RunState, holdings: string): RunRow => {
  const found = moving(row, id, wanted)
  if (holdingsOf(found) !== holdings) throw refuse('CONFLICT', { table: 'runs', id, tries: 1 })
  return found
}

/** Updates what the run holds, after it took something, or completed or released a claim. */
function afterTaking({ prompted = 0, claims = [] }: RunRow, data: Happened['data']): Partial<RunRow> {
  const took = data as
    | (Slot & { kind: TakeKind; inputs?: readonly unknown[]; claim?: Claimed['id']; batches?: readonly { id: string }[] })
    | undefined
  // An erased entry does not say how many it took, so the run counts as having taken some.
  if (!took) return { prompted: prompted + 1 }
  // Inputs that were offered to this run are counted already.
  if (took.kind === 'inputs') return took.name === NEXT && took.inputs?.length ? { prompted: prompted + took.inputs.length } : {}
  if (took.kind === 'canvas' || took.kind === 'remember') return {}
  const claim = took.kind === 'inbox' ? took.claim : (took.name as Claimed['id'])
  const ids = took.batches?.map(({ id }) => id as Claimed['batches'][number])
  // A claim that the run lost and took again counts once.
  const kept = claims.map(({ id, batches }) => ({ id, batches: batches.filter((one) => !ids?.includes(one)) }))
  const others = kept.filter(({ id, batches }) => id !== claim && batches.length > 0)
  const left = claim && ids ? [...others, { id: claim, batches: ids }] : others
  return { claims: left.length > 0 ? left : undefined }
}

/** The name under which a run asks for the inputs of the next turn. */
export const NEXT = 'next'

export const runName = (session: string, name: string, key = ''): string => canonical([session, name, key])

const counted = (replayed: number | undefined) => (replayed === undefined ? {} : { replayed })

const epochOf = ({ epoch = 0 }: { readonly epoch?: number }): number => epoch

type WaitSlot = Slot & Pick<Wait, 'kind'>

const sameWait = (a: WaitSlot, b: WaitSlot): boolean =>
  a.kind === b.kind && a.branch === b.branch && a.name === b.name && a.ordinal === b.ordinal && epochOf(a) === epochOf(b)

const changed = (row: RunRow, e: Happened, set: Partial<RunRow>): RunRow => ({ ...row, ...set, changedAt: e.at })

const spelled = ({ branch, ordinal }: Slot): string => `${branch === '' ? 'the run itself' : `branch ${branch}`} #${ordinal}`

/** Why usage is refused whose sum would no longer be exact. */
export const TOO_LARGE = 'the sum would be too large to be exact'

export const run = decider<RunRow, RunCommand>({
  table: 'runs',
  // An erased opening has no name.
  names: (row) => (row.name === '' ? [] : [['run', runName(row.session, row.name, row.key)]]),
  keeps: ({ parallel, parent, queued, fork, origin }) => ({ parallel, parent, queued, fork, origin }),

  decide: {
    open: (row, { set }) => (row ? [] : [fact('run.opened', set)]),
    begin: (row, { id, set }) => {
      if (!row && set) return [fact('run.opened', set), fact('run.started', { attempt: 1 })]
      return [fact('run.started', { attempt: moving(row, id, 'running').attempt + 1 })]
    },
    wait: (row, { id, wait }) => (moving(row, id, 'waiting').waits.some((w) => sameWait(w, wait)) ? [] : [fact('wait.began', { ...wait })]),
    endWait: (row, { id, wait, outcome }) => {
      const found = moving(row, id, 'running').waits.some((w) => sameWait(w, wait))
      // An unknown wait is refused, not ignored, because the rest of the commit belongs to its end.
      if (!found) throw refuse('CONFLICT', { table: 'waits', id, tries: 1 })
      return [fact('wait.ended', { ...slotOf(wait), kind: wait.kind, ...outcome })]
    },
    park: (row, { id, replayed }) => [fact('run.parked', { waits: moving(row, id, 'waiting').waits.length, ...counted(replayed) })],
    halt: (row, { id, error, replayed }) => (moving(row, id, 'waiting') ? [fact('run.halted', { error, ...counted(replayed) })] : []),
    use: (row, { id, slot, usage, overflow }) => {
      const { name, state, usage: ledger } = moving(row, id, 'running')
      const used = { ...slotOf(slot), usage }
      // An overflow is recorded and counts nothing, so that replay meets it again and the run can go on.
      if (overflow) return [fact('run.used', { ...used, overflow })]
      if (!addUsage(ledger, usage)) throw refuse('USAGE_INVALID', { run: id, name, state, why: TOO_LARGE })
      return [fact('run.used', used)]
    },
    resolve: (row, { id, effect, only, told }) => {
      const { waits, state } = moving(row, id, 'running')
      const { branch: inBranch, ordinal: nth, epoch } = only
      const named = waits.filter(
        (w) => w.kind === 'unknown' && w.name === effect && (inBranch ?? w.branch) === w.branch && (nth ?? w.ordinal) === w.ordinal,
      )
      const current = epoch ?? Math.max(...named.map(epochOf))
      const [wait, ...more] = named.filter((w) => epochOf(w) === current)
      if (!wait) throw refuse('EFFECT_UNKNOWN', { run: id, state, effect })
      // The resolution must select exactly one effect. For the wrong one, work would be done twice or never.
      if (more.length > 0) throw refuse('EFFECT_AMBIGUOUS', { run: id, state, effect, places: [wait, ...more].map(spelled).join(', ') })
      return [fact('effect.resolved', { ...slotOf(wait), ...told })]
    },
    checkpoint: (row, { id, slot, now, manifest }) => {
      const { checkpoint } = moving(row, id, 'running')
      if (epochOf(slot) < epochOf(checkpoint ?? {})) throw refuse('CONFLICT', { table: 'runs', id, tries: 1 })
      return [fact('run.checkpointed', { ...slotOf(slot), kind: 'checkpoint', now, manifest })]
    },
    seal: (row, { id, entries }) => [fact('tape.sealed', { segment: moving(row, id, 'running').segments + 1, entries })],
    prompt: (row, { id, input }) => {
      // An input is accepted in every state in which the run can still hear it.
      const { state, prompted = 0 } = moving(row, id, 'cancelled')
      if (prompted >= limits.runInputs) throw refuse('INPUTS_FULL', { run: id, state, limit: limits.runInputs })
      return [fact('run.prompted', { input })]
    },
    take: (row, { id, slot, kind, outcome }) =>
      moving(row, id, 'running') ? [fact('run.took', { ...slotOf(slot), kind, ...outcome })] : [],
    finish: (row, { id, holdings, result, replayed }) =>
      ending(row, id, 'done', holdings) ? [fact('run.finished', { result, ...counted(replayed) })] : [],
    fail: (row, { id, holdings, error, replayed }) =>
      ending(row, id, 'failed', holdings) ? [fact('run.failed', { error, ...counted(replayed) })] : [],
    cancel: (row, { id, holdings, reason, replayed }) =>
      ending(row, id, 'cancelled', holdings) ? [fact('run.cancelled', { reason, ...counted(replayed) })] : [],
  },

  // An erased fact still moves the state. Only its payload is gone.
  evolve: {
    'run.opened': (_, e) => ({
      name: '',
      ...(e.data as Partial<RunRow> | undefined),
      id: e.subject as RunId,
      session: e.session as RunRow['session'],
      origin: ((e.data?.origin as RunId | undefined) ?? e.subject) as RunId,
      state: 'pending',
      attempt: 0,
      waits: [],
      usage: [],
      segments: 0,
      openedAt: e.at,
      changedAt: e.at,
    }),
    'run.started': (row, e) =>
      row && changed(row, e, { state: row.waits.length > 0 ? 'waiting' : 'running', attempt: row.attempt + 1, error: undefined }),
    'wait.began': (row, e: HappenedWith<Wait>) =>
      row && changed(row, e, { state: 'waiting', waits: e.data ? [...row.waits, e.data] : row.waits }),
    'wait.ended': (row, e: HappenedWith<WaitSlot>) => {
      if (!row) return row
      const { data } = e
      const waits = data ? row.waits.filter((w) => !sameWait(w, data)) : []
      return changed(row, e, { waits, state: waits.length > 0 ? 'waiting' : 'running' })
    },
    'run.parked': (row, e) => row && changed(row, e, { state: 'waiting' }),
    'run.halted': (row, e) => row && changed(row, e, { state: 'waiting', error: e.data?.error as ErrorData | undefined }),
    'run.used': (row, e) => {
      const added = e.data?.overflow ? undefined : (e.data?.usage as Usage | undefined)
      return row && changed(row, e, { usage: (added && addUsage(row.usage, added)) ?? row.usage })
    },
    'effect.resolved': (row, e: HappenedWith<Slot>) => {
      if (!row) return row
      const answered = e.data && { ...e.data, kind: 'unknown' as const }
      const waits = row.waits.filter((w) => (answered ? !sameWait(w, answered) : w.kind !== 'unknown'))
      return changed(row, e, { waits, state: waits.length > 0 ? 'waiting' : 'running' })
    },
    // A checkpoint also ends a segment, because replay starts after it. Erased, it still began an epoch.
    'run.checkpointed': (row, e: HappenedWith<Slot & { readonly now: number; readonly manifest: CheckpointManifest }>) =>
      row &&
      changed(row, e, {
        segments: row.segments + 1,
        checkpoint: {
          epoch: epochOf(e.data ?? row.checkpoint ?? {}) + 1,
          event: e.id,
          now: e.data?.now ?? e.at,
          ...(e.data && { manifest: e.data.manifest }),
        },
      }),
    'tape.sealed': (row, e) => row && changed(row, e, { segments: row.segments + 1 }),
    'run.prompted': (row, e) => row && changed(row, e, { prompted: (row.prompted ?? 0) + 1 }),
    'run.took': (row, e) => row && changed(row, e, afterTaking(row, e.data)),
    'run.finished': (row, e) => row && changed(row, e, { state: 'done', waits: [], result: e.data?.result as Stored | undefined }),
    'run.failed': (row, e) => row && changed(row, e, { state: 'failed', waits: [], error: e.data?.error as ErrorData | undefined }),
    'run.cancelled': (row, e) =>
      row &&
      changed(row, e, {
        state: 'cancelled',
        waits: [],
        error: { name: 'Cancelled', message: (e.data?.reason as string | undefined) ?? '' },
      }),
  },
})
