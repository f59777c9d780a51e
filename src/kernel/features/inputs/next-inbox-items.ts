// Decides which inbox items come next: in the order of offering. A command comes alone and is never overtaken. An interrupted claim keeps its items.

import { utf8Length } from '../../../model/bytes.ts'
import type { InboxItemClaim, InboxKind, InboxRow } from '../../../model/inbox.ts'
import { limits } from '../../../model/limits.ts'

export interface WantedItems {
  readonly kind: InboxKind
  /** `boundary`: within a turn, only items that may come there. `idle`: between turns, all. */
  readonly at: 'boundary' | 'idle'
  readonly most: number
}

/**
 * Why there is no item, in this order: the inbox is empty; the item is due later; a command or a turn's work comes first; the item waits for
 * the end of the turn; other runs hold it; another run was first; the run holds too many; the run is parallel to the turns of its session.
 */
export type WhyNone = 'empty' | 'notDue' | 'commandAtHead' | 'turnAtHead' | 'boundary' | 'held' | 'lostRace' | 'full' | 'parallel'

export type Chosen =
  | { readonly batches: readonly InboxRow[]; readonly from?: InboxItemClaim | undefined; readonly why?: undefined }
  | { readonly batches?: undefined; readonly why: WhyNone }

/** `ready` items can be claimed, in the order of offering: they are due and free, or their claim was interrupted. */
export function chooseItems(ready: readonly InboxRow[], { kind, at, most }: WantedItems): Chosen {
  const [head] = ready
  if (!head) return { why: 'empty' }
  if (head.kind !== kind) return { why: head.kind === 'command' ? 'commandAtHead' : 'turnAtHead' }
  if (at === 'boundary' && head.delivery !== 'boundary') return { why: 'boundary' }
  // A run that takes over a claim gets exactly its items, whatever it asks for and whatever was offered since.
  if (head.state === 'claimed') return { batches: ready.filter((row) => row === head || isOf(row, head.claim)), from: head.claim }
  if (kind === 'command' || !head.join) return { batches: [head] }
  const batches = [head]
  let bytes = sizeOf(head)
  for (const row of ready.slice(1)) {
    bytes += sizeOf(row)
    if (batches.length >= most || bytes > limits.takenBytes || !goesWith(head, row)) break
    batches.push(row)
  }
  return { batches }
}

const isOf = ({ state, claim }: InboxRow, of: InboxItemClaim | undefined): boolean =>
  state === 'claimed' && of !== undefined && claim?.id === of.id

const goesWith = (head: InboxRow, row: InboxRow): boolean =>
  row.state === 'pending' && row.kind === head.kind && row.join && row.delivery === head.delivery && row.merge === head.merge

const sizeOf = ({ payload }: InboxRow): number => utf8Length(JSON.stringify(payload ?? {}))
