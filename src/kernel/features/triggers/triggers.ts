// The public API of triggers: set them, fire, and look at what was delivered.

import { filterOf } from '../../../model/options.ts'
import { TRIGGER_STATES, type TriggerRow, type TriggerState } from '../../../model/trigger.ts'
import { takeName } from '../../naming/names.ts'
import { checkState, listRows, type Page, type PageOptions } from '../../reading/list-rows.ts'
import type { PruneBefore } from '../../time/prune-options.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { readRow } from '../../writing/execute.ts'
import { type Fired, type FireOptions, fire } from './fire.ts'
import { type Firing, firingById, type HistoryOptions, history } from './history.ts'
import { triggerId } from './ids.ts'
import { type PrunedFirings, pruneFirings } from './prune.ts'
import { type ExpectOptions, setTrigger, type TriggerOptions, turnTrigger } from './set-trigger.ts'
import { isThere } from './trigger-decider.ts'

export interface TriggerListOptions extends PageOptions {
  readonly source?: string
  /** Only triggers in this state. The default is all, deleted ones too. */
  readonly state?: TriggerState
}

export interface Triggers {
  /** Registers a trigger under its name, or changes it. From then on, matching firings of the source are offered to its queue. */
  on(name: string, options: TriggerOptions): Promise<TriggerRow>
  /** Records a firing and reserves a delivery for every trigger that matches, in one commit. */
  fire(source: string, payload: unknown, options?: FireOptions): Promise<Fired>
  /** Stops new deliveries until the trigger is enabled. Reserved deliveries go on. */
  disable(name: string, options?: ExpectOptions): Promise<TriggerRow>
  enable(name: string, options?: ExpectOptions): Promise<TriggerRow>
  /** Deletes the trigger. Reserved deliveries go on. Set again, it has a higher revision. */
  delete(name: string, options?: ExpectOptions): Promise<TriggerRow>
  get(name: string): Promise<TriggerRow | undefined>
  /** Lists triggers, newest first. Of one source, enabled triggers come before the others. */
  list(options?: TriggerListOptions): Promise<Page<TriggerRow>>
  /** Lists firings, newest first, with the state of each delivery. */
  history(options?: HistoryOptions): Promise<Page<Firing>>
  /** Returns one firing with its payload. */
  firing(id: string): Promise<(Firing & { readonly payload?: unknown }) | undefined>
  /** Removes firings from before a time, once all their deliveries are delivered or cancelled. The journal keeps their events. */
  prune(options: PruneBefore): Promise<PrunedFirings>
}

export const triggersOf = (scope: Scope): Triggers => ({
  on: (name, options) => setTrigger(scope, name, options),
  fire: (source, payload, options) => fire(scope, source, payload, options),
  disable: (name, options) => turnTrigger(scope, 'disable', name, options),
  enable: (name, options) => turnTrigger(scope, 'enable', name, options),
  delete: (name, options) => turnTrigger(scope, 'delete', name, options),
  get: (name) => getTrigger(scope, name),
  list: (options) => listTriggers(scope, options),
  history: (options) => history(scope, options),
  firing: (id) => firingById(scope, id),
  prune: (options) => pruneFirings(scope, options),
})

async function getTrigger(scope: Scope, given: string): Promise<TriggerRow | undefined> {
  checkOpen(scope.engine)
  const id = triggerId(scope, takeName(scope, given, 'a trigger'))
  const { body: row } = await readRow(scope, 'triggers', id)
  return isThere(row) ? row : undefined
}

async function listTriggers(scope: Scope, options?: TriggerListOptions): Promise<Page<TriggerRow>> {
  const { source, state, ...page } = filterOf(options, 'triggers.list')
  checkState(state, TRIGGER_STATES, 'trigger')
  const from = source === undefined ? undefined : takeName(scope, source, 'a source')
  const by =
    from !== undefined
      ? { index: 'bySource', equals: state === undefined ? [from] : [from, state] }
      : state !== undefined
        ? { index: 'byState', equals: [state] }
        : { index: 'byBorn', equals: [] }
  return listRows(scope, 'triggers', by, page)
}
