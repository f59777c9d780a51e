// The public API of a session's inputs: list, get, cancel and prune.

import type { SessionId } from '../../../model/ids.ts'
import { INPUT_STATES, type InputState } from '../../../model/input.ts'
import { listOf } from '../../../model/options.ts'
import { decodeBody } from '../../../model/rows.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { type CancelOutcome, cancelInputs, cancelInputsFrom, type InputRef, refId } from './cancel-inputs.ts'
import { input } from './input-decider.ts'
import { type Listing, listed, type PruneOptions, pruneOver } from './lists.ts'
import { type Input, readInput, toInput } from './offer-input.ts'

export interface SessionInputs {
  /** Lists inputs, newest first unless `first` is given. */
  list(options?: Listing<InputState>): Promise<{ readonly items: readonly Input[]; readonly cursor?: string }>
  get(input: InputRef): Promise<Input | undefined>
  /** Cancels an input that no run has taken yet. Several are cancelled together. */
  cancel(input: InputRef): Promise<CancelOutcome>
  cancel(inputs: readonly InputRef[]): Promise<readonly CancelOutcome[]>
  /** Cancels this input and all inputs after it. */
  cancelFrom(input: InputRef): Promise<readonly CancelOutcome[]>
  /** Removes completed and cancelled inputs, and frees their keys. Returns how many. */
  prune(options?: PruneOptions): Promise<number>
}

export function sessionInputs(scope: Scope, session: SessionId): SessionInputs {
  async function cancel(given: InputRef): Promise<CancelOutcome>
  async function cancel(given: readonly InputRef[]): Promise<readonly CancelOutcome[]>
  async function cancel(given: InputRef | readonly InputRef[]): Promise<CancelOutcome | readonly CancelOutcome[]> {
    if (Array.isArray(given)) return cancelInputs(scope, session, listOf(given as readonly InputRef[], 'inputs') ?? [])
    const [outcome] = await cancelInputs(scope, session, [given as InputRef])
    return outcome as CancelOutcome
  }
  return {
    list: async (options) => {
      const { rows, cursor } = await listed(scope, 'inputs', session, INPUT_STATES, options)
      const items = await Promise.all(rows.map((row) => toInput(scope, decodeBody(row.body, row))))
      return { items, ...(cursor !== undefined && { cursor }) }
    },
    get: async (ref) => {
      checkOpen(scope.engine)
      const row = await readInput(scope, session, refId(scope, session, ref))
      return row && toInput(scope, row)
    },
    cancel,
    cancelFrom: (ref) => cancelInputsFrom(scope, session, ref),
    prune: (options) => pruneOver(scope, 'inputs', session, ['completed', 'cancelled'], input, options),
  }
}
