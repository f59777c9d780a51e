// Lists firings, newest first, with the state of their deliveries.

import { refuse } from '../../../model/errors.ts'
import { toId } from '../../../model/ids.ts'
import { filterOf } from '../../../model/options.ts'
import type { DeliveryRow, FiringId, FiringRow } from '../../../model/trigger.ts'
import { firedPayload } from '../../content/json-or-blob.ts'
import { takeName } from '../../naming/names.ts'
import { listRows, type Page, type PageOptions } from '../../reading/list-rows.ts'
import { checkOpen, type Scope } from '../../wiring/scope.ts'
import { telling } from '../../writing/draft.ts'
import { readRow } from '../../writing/execute.ts'
import { deliveriesOf } from './fire.ts'
import { triggerId } from './ids.ts'

export type TriggerDelivery = Omit<DeliveryRow, 'firing' | 'trigger_id'>

export interface Firing extends Omit<FiringRow, 'payload' | 'digest'> {
  /** The deliveries and their states. */
  readonly deliveries: readonly TriggerDelivery[]
}

export interface HistoryOptions extends PageOptions {
  /** Only firings that were delivered to this trigger, with its own deliveries only. */
  readonly trigger?: string
  /** Only firings of this source, also those that no trigger matched. */
  readonly source?: string
}

export async function history(scope: Scope, options?: HistoryOptions): Promise<Page<Firing>> {
  checkOpen(scope.engine)
  const { trigger, source, ...page } = filterOf(options, 'triggers.history')
  if (trigger !== undefined && source !== undefined)
    throw refuse('OPTION_INVALID', { option: 'history', why: 'pass trigger or source, not both' })
  if (trigger !== undefined) return historyOf(scope, takeName(scope, trigger, 'a trigger'), page)
  const by = source === undefined ? { index: 'byBorn', equals: [] } : { index: 'bySource', equals: [takeName(scope, source, 'a source')] }
  const { items, ...rest } = await listRows(scope, 'firings', by, page)
  return { items: await Promise.all(items.map(async (row) => shown(row, await deliveriesOf(scope, row.id)))), ...rest }
}

async function historyOf(scope: Scope, name: string, page: PageOptions): Promise<Page<Firing>> {
  const id = triggerId(scope, name)
  if (!(await scope.engine.backend.rows.get(scope.tenant, 'triggers', id))) throw refuse('TRIGGER_UNKNOWN', { trigger: name })
  const { items, ...rest } = await listRows(scope, 'deliveries', { index: 'byTrigger', equals: [id] }, page)
  const firings = await Promise.all(items.map((row) => readFiring(scope, row.firing)))
  // A firing that was pruned in between is left out.
  return { items: items.flatMap((row, i) => (firings[i] ? [shown(firings[i], [row])] : [])), ...rest }
}

/** Returns one firing with its payload. An erased payload is absent. */
export async function firingById(scope: Scope, given: string): Promise<(Firing & { readonly payload?: unknown }) | undefined> {
  checkOpen(scope.engine)
  const id = telling(scope, () => toId<'firing'>(given))
  const row = await readFiring(scope, id)
  if (!row) return undefined
  const firing = shown(row, await deliveriesOf(scope, id))
  return row.erased ? firing : { ...firing, payload: await firedPayload(scope, id) }
}

const readFiring = async (scope: Scope, id: FiringId): Promise<FiringRow | undefined> => (await readRow(scope, 'firings', id)).body

function shown({ payload: _, digest: __, ...firing }: FiringRow, deliveries: readonly DeliveryRow[]): Firing {
  return { ...firing, deliveries: deliveries.map(({ firing: _, trigger_id: __, ...delivery }) => delivery) }
}
