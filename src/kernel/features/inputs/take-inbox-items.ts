// A run claims items of its session's inbox: the claim and the entry on its tape are one commit under its fence. Replay finds the claim on
// the tape. If the run dies, another run of the session takes over its claim with the same items.

import { refuse } from '../../../model/errors.ts'
import { type RunId, toId } from '../../../model/ids.ts'
import { type ClaimId, INBOX_KINDS, type InboxItemClaim, type InboxItemId, type InboxKind, type InboxRow } from '../../../model/inbox.ts'
import { limits } from '../../../model/limits.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { decodeBody } from '../../../model/rows.ts'
import type { Stored } from '../../../model/run.ts'
import { isUnmasked, load } from '../../content/json-or-blob.ts'
import { everyRow } from '../../reading/every-row.ts'
import { storeNow } from '../../time/store-time.ts'
import { isConflict } from '../../writing/commit-outcome.ts'
import { telling } from '../../writing/draft.ts'
import { type Part, part } from '../../writing/execute.ts'
import type { BranchHandle } from '../runs/program/branch.ts'
import { type Asked, slotOf } from '../runs/program/call.ts'
import type { Entry } from '../runs/tape/tape.ts'
import type { RunWriter } from '../runs/writing/run-writer.ts'
import { inbox } from './inbox-decider.ts'
import { goesOn } from './live-turn.ts'
import { type Chosen, chooseItems, type WantedItems, type WhyNone } from './next-inbox-items.ts'
import { checkMost } from './take-inputs.ts'

export type InboxOptions =
  | {
      /** `boundary`: within a turn. `idle`: between turns, which is the only place for items with `afterTurn`. */
      readonly at: 'boundary' | 'idle'
      readonly kind?: 'turn'
      /** The largest number of items. The default and the limit are 64. */
      readonly most?: number
    }
  /** The command at the head of the inbox, alone. */
  | { readonly kind: 'command'; readonly at?: 'boundary' | 'idle' }

/** An inbox item as the run that claimed it sees it. It is the same under replay. */
export interface TakenInboxItem extends Pick<InboxRow, 'id' | 'kind' | 'delivery' | 'merge' | 'key' | 'offeredAt'> {
  readonly payload: unknown
}

export type InboxClaim =
  | {
      readonly claim: ClaimId
      readonly batches: readonly TakenInboxItem[]
      /** Another run had claimed it and was interrupted. */
      readonly redriven: boolean
      readonly why?: undefined
    }
  | {
      readonly claim?: undefined
      readonly batches: readonly []
      readonly why: WhyNone
      /** When the first item becomes due, if none is due yet. */
      readonly due?: number
    }

type Kept = Omit<TakenInboxItem, 'payload'> & { readonly payload?: Stored }

type Outcome =
  | { readonly claim: ClaimId; readonly batches: readonly Kept[]; readonly redriven?: boolean; readonly why?: undefined }
  | { readonly claim?: undefined; readonly why: WhyNone; readonly due?: number | undefined }

export async function takeInboxItems(branch: BranchHandle, options: InboxOptions): Promise<InboxClaim> {
  const given = optionsOf<{ at?: string; kind?: InboxKind; most?: number }>(options, 'inbox')
  const { kind = 'turn', at = kind === 'command' ? 'idle' : undefined, most = limits.takenAtOnce, ...unknown } = given
  checkKnown(unknown, 'an inbox')
  if (!INBOX_KINDS.includes(kind)) throw invalidOption('kind', "'turn' or 'command'", kind)
  if (at !== 'boundary' && at !== 'idle') throw invalidOption('at', "'boundary' or 'idle'", at)
  checkMost(most)
  if (kind === 'command' && given.most !== undefined)
    throw refuse('OPTION_INVALID', { option: 'most', why: 'commands are taken one at a time, so most cannot be set' })
  const name = kind === 'command' ? `command/${at}` : at
  const entry = await branch.asks('inbox', name, (asked) => take(branch.open, asked, { kind, at, most }))
  const outcome = entry.outcome as unknown as Outcome
  if (outcome.claim === undefined) return { batches: [], why: outcome.why, ...(outcome.due !== undefined && { due: outcome.due }) }
  const { claim, batches: kept, redriven = false } = outcome
  const batches = await Promise.all(kept.map(async ({ payload, ...one }) => ({ ...one, payload: await load(branch.open.scope, payload) })))
  return { claim, batches, redriven }
}

export const completeClaim = (branch: BranchHandle, claim: string): Promise<void> => settle(branch, claim, 'inboxDone', 'complete')

/** The items are pending again. Items that another run took over meanwhile stay with it. */
export const releaseClaim = (branch: BranchHandle, claim: string): Promise<void> => settle(branch, claim, 'inboxRelease', 'release')

async function settle(branch: BranchHandle, given: string, kind: 'inboxDone' | 'inboxRelease', verb: 'complete' | 'release') {
  const { open } = branch
  const claim = telling(open.scope, () => toId<'claim'>(given))
  const entry = await branch.asks(kind, claim, async (asked) => {
    const held = open.row.claims?.find(({ id }) => id === claim)
    const about = { session: open.row.session, run: open.id }
    const parts = (held?.batches ?? []).map((id) => part(inbox, id, { verb, id, claim, run: open.id }, about))
    // A claim that a fork finds on the tape belongs to the other run, which settles it.
    return record(open, asked, kind, held || open.row.fork ? {} : { unknown: true }, parts)
  })
  if (entry.outcome?.unknown) throw refuse('INBOX_CLAIM_UNKNOWN', { ...open.about, claim })
}

async function record(
  open: RunWriter,
  asked: Asked,
  kind: 'inbox' | 'inboxDone' | 'inboxRelease',
  outcome: Readonly<Record<string, unknown>>,
  parts: readonly Part[] = [],
  whole = false,
): Promise<Entry> {
  const at = open.scope.engine.environment.clock.now()
  await open.change({ verb: 'take', id: open.id, slot: slotOf(asked), kind, outcome }, parts, { at, whole })
  return { ...asked, seq: 0, at, done: true, outcome }
}

async function take(open: RunWriter, asked: Asked, wanted: WantedItems): Promise<Entry> {
  const chosen = await choose(open, wanted)
  if (!chosen.batches) return record(open, asked, 'inbox', chosen)
  const { batches: rows, from } = chosen
  // This run goes on with the same claim and the same items.
  const id = from?.id ?? open.scope.engine.newId<'claim'>()
  const claim: InboxItemClaim = { id, run: open.id, fence: open.hold.fence }
  const about = { session: open.row.session, run: open.id }
  const parts = rows.map((row) => part(inbox, row.id, { verb: 'claim', id: row.id, claim, from }, about))
  const outcome = { claim: id, batches: rows.map(keep), ...(from && { redriven: true }) }
  try {
    const whole = rows.some(({ payload }) => isUnmasked(payload))
    return await record(open, asked, 'inbox', outcome, parts, whole)
  } catch (error) {
    if (!isConflict(error, 'inbox')) throw error
    return record(open, asked, 'inbox', { why: 'lostRace' })
  }
}

const keep = ({ id, kind, delivery, merge, key, offeredAt, payload }: InboxRow): Kept => ({
  id,
  kind,
  delivery,
  offeredAt,
  ...(merge !== undefined && { merge }),
  ...(key !== undefined && { key }),
  ...(payload && { payload }),
})

async function choose(open: RunWriter, wanted: WantedItems): Promise<Chosen & { readonly due?: number }> {
  const { claims = [], parallel } = open.row
  // A parallel run does not hold the session's lease, which claiming from the inbox needs.
  if (parallel) return { why: 'parallel' }
  const room = limits.runBatches - claims.reduce((sum, { batches }) => sum + batches.length, 0)
  if (room <= 0) return { why: 'full' }
  const most = Math.min(wanted.most, room)
  const { interrupted, held } = await claimedItems(open)
  const { due, later } = await pendingItems(open, most)
  const ready = [...interrupted, ...due].sort((a, b) => a.born - b.born).map(({ row }) => row)
  if (ready.length > 0) return chooseItems(ready, { ...wanted, most })
  if (held) return { why: 'held' }
  return later === undefined ? { why: 'empty' } : { why: 'notDue', due: later }
}

interface Found {
  readonly row: InboxRow
  /** Its position in the order of offering. */
  readonly born: number
}

/** The items of interrupted claims, and whether another run holds any item. */
async function claimedItems(open: RunWriter): Promise<{ readonly interrupted: readonly Found[]; readonly held: boolean }> {
  const interrupted: Found[] = []
  const goOn = new Map<RunId, boolean>()
  let held = false
  for await (const found of itemsOf(open, 'claimed')) {
    const { claim } = found.row
    let mine = claim !== undefined && claim.fence >= open.hold.fence
    if (claim && !mine) {
      mine = goOn.get(claim.run) ?? (await goesOn(open.scope, claim.run))
      goOn.set(claim.run, mine)
    }
    if (mine) held = true
    else interrupted.push(found)
  }
  return { interrupted, held }
}

/** As many items as may come, one more to see whether they go together, and when the first of the others is due. */
async function pendingItems(
  open: RunWriter,
  most: number,
): Promise<{ readonly due: readonly Found[]; readonly later: number | undefined }> {
  const due: Found[] = []
  let later: number | undefined
  let now: number | undefined
  for await (const found of itemsOf(open, 'pending')) {
    const { at } = found.row
    if (at !== undefined) now ??= await storeNow(open.scope)
    if (at !== undefined && at > (now as number)) later = Math.min(later ?? at, at)
    else due.push(found)
    if (due.length > most) break
  }
  return { due, later }
}

async function* itemsOf({ scope, row: { session } }: RunWriter, state: 'pending' | 'claimed'): AsyncGenerator<Found, void, undefined> {
  const range = { index: 'bySessionAndState', equals: [session, state], limit: PAGE }
  for await (const { id, born, body } of everyRow(scope, 'inbox', range))
    yield { row: { ...decodeBody(body, { id }), id: id as InboxItemId }, born }
}

const PAGE = 128
