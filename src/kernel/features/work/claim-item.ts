// Claims one work item: the commit that takes it, guarded by the row that the caller has read, and the claim that follows from it.

import { type ErrorKind, InkError } from '../../../model/errors.ts'
import type { Id } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { invalidOption } from '../../../model/options.ts'
import { decodeBody, type TableRow } from '../../../model/rows.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'
import type { WorkRow } from '../../../model/work.ts'
import { load } from '../../content/json-or-blob.ts'
import { enginePart } from '../../wiring/per-engine.ts'
import type { Scope } from '../../wiring/scope.ts'
import { type DoneRow, type Part, part, plan } from '../../writing/execute.ts'
import { keeperOf } from '../leases/keeper.ts'
import { ClaimHandle } from './claim.ts'
import { followers } from './item-origin.ts'
import { bury, isPoisoned } from './poison.ts'
import { work } from './work-decider.ts'

/** When an item was read: the store's clock, and our monotonic clock just before the read. */
export interface Seen {
  readonly now: number
  readonly asked: number
}

/** How long a claim lasts without a renewal. */
export function takeLease(scope: Scope, lease: Duration | undefined): number {
  const ms = lease === undefined ? keeperOf(scope.engine).ttlMs : milliseconds(lease)
  if (ms < 1) throw invalidOption('lease', 'at least 1 ms', lease)
  return ms
}

/** Undefined when another claimant was quicker; 'buried' when the item has become a dead letter instead. */
export async function claimItem<T>(
  scope: Scope,
  stored: TableRow<'work'>,
  seen: Seen,
  leaseMs: number,
  renew: boolean,
): Promise<ClaimHandle<T> | 'buried' | undefined> {
  const { id, revision } = stored
  try {
    const row = decodeBody(stored.body, stored)
    if (isPoisoned(row)) {
      await bury(scope, stored)
      return 'buried'
    }
    const { own, asked, now } = claimPart(scope, stored, row, seen, leaseMs)
    const followed = await followers(scope, { item: id as Id<'work'>, row, move: 'claimed', now })
    const { rows } = await plan(scope, [own, ...followed], { guards: [{ kind: 'row', table: 'work', id, revision }] })
    const dueAt = row.state === 'ready' ? row.at : undefined
    const claimOf = held<T>(scope, rows[0], { id, dueAt, leaseMs, asked, renew })
    try {
      return claimOf(await load(scope, row.payload))
    } catch (error) {
      await setAside(claimOf(undefined), error)
      throw error
    }
  } catch (error) {
    if (error instanceof InkError && error.code === 'CONFLICT') return undefined
    throw error
  }
}

/** The part of a commit that claims an item as it was read. The lease begins now, not when the item was read. */
export function claimPart(
  { engine }: Scope,
  { id, revision }: TableRow<'work'>,
  row: WorkRow,
  seen: Seen,
  leaseMs: number,
): { readonly own: Part<WorkRow>; readonly asked: number; readonly now: number } {
  const asked = engine.environment.clock.monotonic()
  const now = Math.floor(seen.now + asked - seen.asked)
  const command = { verb: 'claim', ...keeperOf(engine).holder, now, until: now + leaseMs, free: true } as const
  return { own: part(work, id as Id<'work'>, command, { seen: { body: row, revision } }), asked, now }
}

interface Claimed {
  readonly id: string
  /** When the item was due, unless it was claimed before. */
  readonly dueAt: number | undefined
  readonly leaseMs: number
  readonly asked: number
  readonly renew: boolean
}

/** Holds the item, and renews it if asked, after the commit that claimed it. Returns the claim, given its payload. */
export function held<T>(
  scope: Scope,
  row: DoneRow<WorkRow>,
  { id, dueAt, leaseMs, asked, renew }: Claimed,
): (payload: unknown) => ClaimHandle<T> {
  const hold = {
    tenant: scope.tenant,
    table: 'work' as const,
    id: id as Id<'work'>,
    fence: row.revision,
    leaseMs,
    // Two renewals in a row may fail.
    renewMs: leaseMs / 3,
    lost: new AbortController(),
    sureUntil: asked + leaseMs,
    releasing: false,
  }
  if (renew) scope.engine.renewals.keep(hold)
  return (payload) => new ClaimHandle<T>(scope, row, payload as T, hold, dueAt)
}

/** Handles a payload that cannot be read. Damage makes the item a dead letter; after any other error it is retried, and the attempt does not count. */
async function setAside<T>(claim: ClaimHandle<T>, error: unknown): Promise<void> {
  const isLasting = error instanceof InkError && LASTING.includes(error.kind)
  try {
    await (isLasting ? claim.fail(error, { final: true }) : claim.giveBack(limits.workBackoffMs, true))
  } catch (unsettled) {
    const { logger } = claim.scope.engine.environment
    logger.error('an item that cannot be read could not be given back', { item: claim.id, queue: claim.queue, error: String(unsettled) })
  } finally {
    claim.letGo()
  }
}

const LASTING: readonly ErrorKind[] = ['missing', 'corrupt', 'invalid']

/** Items that a caller in this process is claiming right now, by tenant and id. */
export const claimingOf = enginePart(() => new Set<string>())
