// Moves a delivery together with its work item, in the same commit.

import type { Id } from '../../../model/ids.ts'
import { part } from '../../writing/execute.ts'
import type { FollowItem, Move, Moved } from '../work/item-origin.ts'
import { type DeliveryCommand, delivery } from './delivery-decider.ts'

export const followDelivery: FollowItem = async (_scope, moved) => [part(delivery, moved.row.origin?.id as Id, COMMANDS[moved.move](moved))]

const returned = ({ error }: Moved): DeliveryCommand => ({ verb: 'return', ...(error && { error }) })

const COMMANDS: Readonly<Record<Move, (moved: Moved) => DeliveryCommand>> = {
  claimed: ({ row }) => ({ verb: 'begin', attempt: row.attempt + 1 }),
  released: returned,
  failed: returned,
  redriven: returned,
  completed: () => ({ verb: 'deliver' }),
  died: ({ error }) => ({ verb: 'die', ...(error && { error }) }),
  cancelled: () => ({ verb: 'cancel' }),
}
