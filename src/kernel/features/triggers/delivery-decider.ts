// A delivery: one firing on its way to one trigger. It is reserved together with its work item, and moves with it.

import type { ErrorData } from '../../../model/run.ts'
import type { DeliveryRow, TriggerDeliveryId, TriggerDeliveryState } from '../../../model/trigger.ts'
import { decider, fact, type Happened, type HappenedWith } from '../../writing/decider.ts'

type Reserved = Required<Pick<DeliveryRow, 'firing' | 'trigger_id' | 'trigger' | 'revision' | 'queue' | 'item'>>

export type DeliveryCommand =
  | ({ readonly verb: 'reserve' } & Reserved)
  | { readonly verb: 'begin'; readonly attempt: number }
  /** The item is back in its queue, after a failure or because its worker released it. */
  | { readonly verb: 'return'; readonly error?: ErrorData | undefined }
  | { readonly verb: 'deliver' }
  | { readonly verb: 'die'; readonly error?: ErrorData | undefined }
  | { readonly verb: 'cancel' }
  | { readonly verb: 'forget' }

export const delivery = decider<DeliveryRow, DeliveryCommand>({
  table: 'deliveries',
  // The item still waits in its queue, so the delivery stays with its firing: without it the firing would count as dealt with.
  keeps: ({ firing, trigger_id, revision, item }) => ({ firing, trigger_id, revision, item }),

  decide: {
    reserve: (row, { verb: _, ...reserved }) => (row ? [] : [fact('delivery.reserved', reserved)]),
    // A worker that began before may have died, so a delivery may begin again.
    begin: (row, { attempt }) => (row ? [fact('delivery.began', { attempt })] : []),
    return: (row, { error }) => (row ? [fact('delivery.returned', error ? { error } : {})] : []),
    deliver: (row) => (row ? [fact('delivery.delivered', {})] : []),
    die: (row, { error }) => (row ? [fact('delivery.died', error ? { error } : {})] : []),
    cancel: (row) => (row ? [fact('delivery.cancelled', {})] : []),
    forget: (row) => (row && isOver(row) ? [fact('delivery.forgotten', {})] : []),
  },

  evolve: {
    'delivery.reserved': (_, e: HappenedWith<Reserved>) => ({
      // The erasure puts the ids of an erased delivery back.
      ...((e.data ?? { erased: true }) as Reserved),
      id: e.subject as TriggerDeliveryId,
      state: 'reserved',
      attempt: 0,
      reservedAt: e.at,
      changedAt: e.at,
    }),
    'delivery.began': (row, e) => moved(row, e, 'delivering', { attempt: (e.data?.attempt as number | undefined) ?? row?.attempt ?? 0 }),
    'delivery.returned': (row, e) => moved(row, e, 'reserved', errorOf(e)),
    'delivery.delivered': (row, e) => moved(row, e, 'delivered', { error: undefined }),
    'delivery.died': (row, e) => moved(row, e, 'dead', errorOf(e)),
    'delivery.cancelled': (row, e) => moved(row, e, 'cancelled', {}),
    'delivery.forgotten': () => undefined,
  },
})

/** A dead delivery is not over: a caller may redrive its item. */
export const isOver = ({ state }: DeliveryRow): boolean => state === 'delivered' || state === 'cancelled'

const errorOf = ({ data }: Happened): Partial<DeliveryRow> => (data?.error ? { error: data.error as ErrorData } : {})

const moved = (
  row: DeliveryRow | undefined,
  e: Happened,
  state: TriggerDeliveryState,
  more: Partial<DeliveryRow>,
): DeliveryRow | undefined => row && { ...row, ...more, state, changedAt: e.at }
