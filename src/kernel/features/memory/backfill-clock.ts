// The clock of the backfill: an item of the scheduler, ten minutes after something was remembered, and again while anything is pending.

import type { Id } from '../../../model/ids.ts'
import { limits } from '../../../model/limits.ts'
import { derivedId } from '../../naming/derived-id.ts'
import { readEvents } from '../../reading/read-events.ts'
import { enginePart } from '../../wiring/per-engine.ts'
import type { Scope } from '../../wiring/scope.ts'
import { isConflict } from '../../writing/commit-outcome.ts'
import { part, plan } from '../../writing/execute.ts'
import { embedderOf } from '../vectors/embed.ts'
import { offerPart } from '../work/offer.ts'
import { type ClockHandler, schedulerOf } from '../work/scheduler.ts'
import { work } from '../work/work-decider.ts'
import { backfill } from './backfill.ts'
import { storeNow } from './store-now.ts'

/** The queue in which the scheduler finds tenants with items to embed. */
export const BACKFILL_CLOCK = 'clock/embeddings'

const clockItem = (scope: Scope): Id<'work'> => derivedId<'work'>(scope, `memory/backfill/${scope.tenant}`)

/** Until when this node knows that the clock item is there: until it is due. */
const offered = enginePart(() => new Map<string, number>())

/** Makes sure that the backfill runs within ten minutes, if the store has an embedder. `waitedMs` is how long texts may have waited already. */
export async function embedLater(scope: Scope, waitedMs = 0): Promise<void> {
  const { options, environment } = scope.engine
  if (!embedderOf(scope) || options.readOnly) return
  const known = offered(scope.engine)
  const elapsed = environment.clock.monotonic()
  if ((known.get(scope.tenant) ?? 0) > elapsed) return
  schedulerOf(scope.engine).start()
  const now = await storeNow(scope)
  const id = clockItem(scope)
  const at = now + Math.max(0, limits.backfillEveryMs - waitedMs)
  const { rows } = await plan(scope, [offerPart(id, { queue: BACKFILL_CLOCK, at, origin: { kind: 'clock', id } })])
  known.set(scope.tenant, elapsed + (rows[0].body?.at ?? now) - now)
}

/** Up to which event this node has looked for texts, by tenant. */
const seen = enginePart(() => new Map<string, number>())

/** Sees to the texts that were there before the store had this embedder, and to those that other processes remembered. */
export async function embedUnseen(scope: Scope, everyMs: number): Promise<void> {
  if (!embedderOf(scope)) return
  const { seq } = await scope.engine.backend.journal.head(scope.tenant)
  const after = seen(scope.engine).get(scope.tenant) ?? 0
  for await (const _ of readEvents(scope, { types: ['memory.remembered', 'memory.updated'], after, limit: 1 }))
    await embedLater(scope, everyMs)
  seen(scope.engine).set(scope.tenant, seq)
}

/** Called by the scheduler. Embedding goes on in the background, so that it does not hold up other items. */
export const backfillByClock: ClockHandler = async (scope, { id: item, row, revision, now }) => {
  const move = part(work, item, { verb: 'move', at: now + limits.backfillEveryMs }, { seen: { body: { ...row }, revision } })
  try {
    await plan(scope, [move], { once: true })
  } catch (error) {
    // Another node is at it.
    if (isConflict(error, 'work')) return
    throw error
  }
  if (!embedderOf(scope)) return
  backfill(scope)
    .then(async ({ embedded, pending }) => {
      // Something may have been remembered while others were embedded, so the last pass is one that finds nothing to do.
      if (pending > 0 || embedded > 0) return
      offered(scope.engine).delete(scope.tenant)
      await plan(scope, [part(work, item, { verb: 'complete' })])
    })
    .catch((error: unknown) => {
      if (!scope.engine.closing.aborted)
        scope.engine.environment.logger.warn('items of memory could not be embedded yet', { tenant: scope.tenant, error: String(error) })
    })
}
