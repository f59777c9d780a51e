// Which batches of an inbox come next: in the order they were offered, a command alone and never overtaken, an interrupted claim as it was made.

import { utf8Length } from '../../model/bytes.ts'
import type { InboxHold, InboxKind, InboxRow } from '../../model/inbox.ts'
import { limits } from '../../model/limits.ts'

export interface WantedItems {
  readonly kind: InboxKind
  /** Within a turn only those come that may; between turns all. */
  readonly at: 'boundary' | 'idle'
  readonly most: number
}

/**
 * Nothing is there; it is due later; a command, or work for a turn, has to come first; it has to wait for the end of the turn; others have it;
 * somebody else was quicker; the run has too much in hand already; the run goes on beside the turns of its session.
 */
export type WhyNone = 'empty' | 'notDue' | 'commandAtHead' | 'turnAtHead' | 'boundary' | 'held' | 'lostRace' | 'full' | 'parallel'

export type Chosen =
  | { readonly batches: readonly InboxRow[]; readonly from?: InboxHold | undefined; readonly why?: undefined }
  | { readonly batches?: undefined; readonly why: WhyNone }

/** `ready` can be claimed: it is due and nobody's, or its claim was interrupted. In the order of offering. */
export function chooseItems(ready: readonly InboxRow[], { kind, at, most }: WantedItems): Chosen {
  const [head] = ready
  if (!head) return { why: 'empty' }
  if (head.kind !== kind) return { why: head.kind === 'command' ? 'commandAtHead' : 'turnAtHead' }
  if (at === 'boundary' && head.delivery !== 'boundary') return { why: 'boundary' }
  // Whoever redrives a claim gets what was in it, whatever is asked for now and whatever has come in between.
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

const isOf = ({ state, claim }: InboxRow, of: InboxHold | undefined): boolean =>
  state === 'claimed' && of !== undefined && claim?.id === of.id

const goesWith = (head: InboxRow, row: InboxRow): boolean =>
  row.state === 'pending' && row.kind === head.kind && row.join && row.delivery === head.delivery && row.merge === head.merge

const sizeOf = ({ payload }: InboxRow): number => utf8Length(JSON.stringify(payload ?? {}))
