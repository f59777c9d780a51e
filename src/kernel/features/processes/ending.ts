// Ends a process, once. The outcome, the event, the wake-up, the lease and the work items change in one commit.

import type { Json } from '../../../model/data.ts'
import { refuse } from '../../../model/errors.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { CORE_TYPES, type Evidence, hasEnded, type ProcessId, type ProcessRow, WRITERS } from '../../../model/process.ts'
import type { ErrorData, Stored } from '../../../model/run.ts'
import type { Guard } from '../../../ports/commit.ts'
import { load, store } from '../../content/json-or-blob.ts'
import { briefError, errorData } from '../../failing/error-data.ts'
import { maskKey } from '../../naming/names.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { Bell } from '../../reading/read-events.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { admit } from '../../writing/draft.ts'
import { type Changed, change, type Saying } from './change.ts'
import { takeSmall, takeText } from './definition.ts'
import { readProcess } from './ids.ts'
import { going, type Outcome } from './process-decider.ts'
import type { WriteAs } from './write-as.ts'

export interface EndOptions {
  /** Idempotency key: the same key with the same outcome is reported as repeated, not refused. */
  readonly key?: string
}

export interface CompleteOptions extends EndOptions {
  /** A value for the code that goes on after the completion. */
  readonly control?: unknown
}

/** The result of a process that has ended. */
export type ProcessResult<T = unknown> = Pick<ProcessRow, 'control' | 'error' | 'reason' | 'evidence'> & {
  readonly state: 'completed' | 'failed' | 'cancelled' | 'abandoned'
  readonly value?: T
}

/** An outcome in two forms: the value for selectors, and the stored form. */
export interface Ended {
  readonly outcome: Outcome
  readonly payload: Json
}

export async function asCompleted(scope: Scope, value: unknown, given: unknown): Promise<Ended> {
  const control = takeSmall(scope, 'control', given)
  const admitted = value === undefined ? undefined : admit(scope, value, 'the value of a process')
  const stored = await store(scope, admitted, { of: 'the value' }, true)
  const said = control === undefined ? {} : { control }
  return {
    outcome: { state: 'completed', value: stored, ...said },
    payload: { ...(admitted !== undefined && { value: admitted }), ...said },
  }
}

export function asFailed(scope: Scope, thrown: unknown): Ended {
  const error = errorData(scope, thrown)
  return { outcome: { state: 'failed', error }, payload: { error: { ...briefError(error) } } }
}

export function asCancelled(scope: Scope, given: unknown): Ended {
  const reason = takeText(scope, 'reason', given)
  return { outcome: { state: 'cancelled', reason }, payload: { reason } }
}

export function asAbandoned(scope: Scope, given: Evidence): Ended {
  const { writer, owner, fence, ...unknown } = optionsOf(given, 'evidence')
  checkKnown(unknown, 'evidence')
  if (!WRITERS.includes(writer)) throw invalidOption('evidence.writer', `one of ${WRITERS.join(', ')}`, writer)
  if (fence !== undefined && (!Number.isSafeInteger(fence) || fence < 0)) throw invalidOption('evidence.fence', 'an integer ≥ 0', fence)
  const evidence: Evidence = {
    writer,
    ...(owner !== undefined && { owner: takeText(scope, 'evidence.owner', owner) }),
    ...(fence !== undefined && { fence }),
  }
  return { outcome: { state: 'abandoned', evidence }, payload: { evidence: { ...evidence } } }
}

/** Ends the process. The first end is final. `still` returns the guards of the end, or nothing if the process is not to end after all. */
export async function endProcess(
  scope: Scope,
  id: ProcessId,
  hand: WriteAs,
  { outcome, payload }: Ended,
  options?: EndOptions,
  still?: (row: ProcessRow) => Promise<readonly Guard[] | undefined>,
): Promise<Changed> {
  checkOpen(scope.engine)
  const { key, ...unknown } = optionsOf(options, 'end')
  checkKnown(unknown, 'an end')
  const saying = sayingOf(outcome, payload, key === undefined ? undefined : maskKey(scope, key))
  return change(scope, id, hand, saying, async (row) => {
    going(row, id)
    const guards = still ? await still(row) : []
    return guards && { saying, command: { verb: 'end', id, outcome }, guards }
  })
}

/**
 * A large value is stored once: the event and the process refer to the same blob. The stack of an error stands in the row only: a retry
 * with the same key has another one.
 */
function sayingOf(outcome: Outcome, payload: Json, key?: string): Saying {
  const { state, ...said } = outcome
  const { value = {}, error, ...rest } = said as { readonly value?: Stored; readonly error?: ErrorData }
  const data = { ...rest, ...(error && { error: briefError(error) }), ...value }
  return { type: CORE_TYPES[state], payload, data: { value: data as unknown as Json }, ...(key !== undefined && { key }) }
}

/** Waits until the process has ended in any way. */
export async function resultOf<T>(scope: Scope, id: ProcessId, options?: { readonly signal?: AbortSignal }): Promise<ProcessResult<T>> {
  const { signal, ...unknown } = optionsOf(options, 'result')
  checkKnown(unknown, 'a wait')
  const bell = new Bell(scope, [signal, scope.engine.closing])
  try {
    for (;;) {
      bell.reset()
      stopIfAsked(scope, signal)
      const row = await readProcess(scope, id)
      if (!row) throw refuse('PROCESS_UNKNOWN', { process: id, tenant: scope.tenant })
      const { state, value, control, error, reason, evidence } = row
      if (hasEnded(state)) {
        const loaded = await load(scope, value)
        return {
          state,
          ...(loaded !== undefined && { value: loaded as T }),
          ...(control !== undefined && { control }),
          ...(error && { error }),
          ...(reason !== undefined && { reason }),
          ...(evidence && { evidence }),
        }
      }
      await bell.rung()
    }
  } finally {
    bell.close()
  }
}
