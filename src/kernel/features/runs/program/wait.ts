// Waits inside a run. The wait and its deadline are stored before it begins. Time is read from the store's clock, not counted.

import { limits } from '../../../../model/limits.ts'
import type { Wait, WaitKind } from '../../../../model/run.ts'
import type { Guard } from '../../../../ports/commit.ts'
import { Bell } from '../../../reading/read-events.ts'
import { storeNow } from '../../../time/store-time.ts'
import { isConflict, isOutage } from '../../../writing/commit-outcome.ts'
import type { Part } from '../../../writing/execute.ts'
import { keeperOf } from '../../leases/keeper.ts'
import { never, type Waiting } from '../node/parking.ts'
import type { Entry } from '../tape/tape.ts'
import type { RunWriter } from '../writing/run-writer.ts'
import { type Asked, placeOf, slotOf } from './call.ts'

export interface WaitSpec {
  readonly kind: WaitKind
  /** The timeout. The default is none. */
  readonly ms?: number | undefined
  /** The deadline, if it is known as a time. */
  readonly until?: number | undefined
  readonly on?: string
  /** Parts that are written together with the beginning. */
  readonly begins?: (until: number | undefined) => readonly Part[]
  /** Guards of the commit that begins the wait. */
  readonly guards?: readonly Guard[]
  /** Returns the outcome and the parts that are written with the end, or undefined while there is none. `late`: the deadline has passed. */
  readonly check: (wait: { readonly until?: number; readonly on?: string }, late: boolean) => Promise<Ended | undefined>
}

export interface Ended {
  readonly outcome: Readonly<Record<string, unknown>>
  readonly parts?: readonly Part[]
  /** Another writer has recorded the end already. */
  readonly over?: boolean
}

/** Begins the wait, if it has not begun, and resolves with what ended it. */
export async function waitFor(
  open: RunWriter,
  asked: Asked,
  begun: Entry | undefined,
  spec: WaitSpec,
  leaving: AbortSignal,
): Promise<Entry> {
  const bell = new Bell(open.scope, [open.signal, leaving])
  let waiting: Waiting | undefined
  try {
    const wait = begun?.wait ?? (await begin(open, asked, spec, bell))
    waiting = open.parking.waits(asked.branch, wait.until)
    for (;;) {
      bell.reset()
      try {
        const looked = await look(open, asked, wait, spec, leaving, waiting)
        // The promise is returned, not awaited: it never settles, but the `finally` below still runs.
        if (looked === 'left') return never()
        if ('entry' in looked) return looked.entry
        await nap(open, bell, looked.ms)
      } catch (error) {
        await sitOut(open, bell, error, wait.until)
      }
    }
  } finally {
    waiting?.end()
    bell.close()
  }
}

type Looked = 'left' | { readonly entry: Entry } | { readonly ms: number }

/** Looks once: the wait has ended, its branch has lost, or the number of milliseconds until the next look. */
async function look(
  open: RunWriter,
  asked: Asked,
  wait: { readonly until?: number; readonly on?: string },
  spec: WaitSpec,
  leaving: AbortSignal,
  waiting: Waiting,
): Promise<Looked> {
  const { scope } = open
  if (await open.parking.isParked()) return 'left'
  open.checkLive()
  // The branch lost a race, so the outcome is not needed.
  if (leaving.aborted) {
    await leaveWaits(open)
    return 'left'
  }
  const [now, { seq }] = await Promise.all([storeTime(open), scope.engine.backend.journal.head(scope.tenant)])
  const ended = await spec.check(wait, wait.until !== undefined && wait.until <= now)
  if (ended) {
    const at = scope.engine.environment.clock.now()
    const outcome = await end(open, asked, ended, at)
    if (outcome) return { entry: { ...asked, seq: 0, at, done: true, outcome } }
  }
  await open.refresh()
  // The wait of a branch that lost a race was ended for it. That is no sign of an erasure.
  if (ended && !leaving.aborted) checkThere(open, asked)
  waiting.seen = ended ? 0 : seq
  if (await open.parking.consider(now)) return 'left'
  return { ms: ended ? SOON_MS : wait.until === undefined ? Infinity : wait.until - now }
}

/** Rests while the database is away. Throws what is no outage, and an outage that outlasts the wait. */
async function sitOut(open: RunWriter, bell: Bell, error: unknown, until: number | undefined): Promise<void> {
  // The store cannot be asked for its time now: this node's estimate decides.
  const left = until === undefined ? Infinity : until - open.scope.engine.lane.storeTime()
  if (!isOutage(error) || left <= 0) throw error
  await nap(open, bell, Math.min(left, limits.lookEveryMs))
  open.checkLive()
}

// Another writer was first: its change shows in a moment.
const SOON_MS = 5

/** The events of the wait may have been erased. Then its end is unknown, and the run has diverged. */
function checkThere(open: RunWriter, { kind, branch, name, ordinal }: Asked): void {
  const there = open.row.waits.some((w) => w.kind === kind && w.branch === branch && w.name === name && w.ordinal === ordinal)
  if (!there) throw open.diverged(`- recorded: ${kind} '${name}', of which something was erased`)
}

async function begin(
  open: RunWriter,
  asked: Asked,
  spec: WaitSpec,
  bell: Bell,
): Promise<{ readonly until?: number; readonly on?: string }> {
  let { until } = spec
  for (;;) {
    bell.reset()
    try {
      if (spec.ms !== undefined) until ??= (await storeTime(open)) + spec.ms
      const wait: Wait = {
        ...slotOf(asked),
        kind: spec.kind,
        ...(until !== undefined && { until }),
        ...(spec.on !== undefined && { on: spec.on }),
      }
      await open.change({ verb: 'wait', id: open.id, wait }, spec.begins?.(until), spec.guards && { guards: spec.guards })
      return wait
    } catch (error) {
      // The time runs from the call on, also while the database is away.
      if (spec.ms !== undefined) until ??= open.scope.engine.lane.storeTime() + spec.ms
      await sitOut(open, bell, error, until)
    }
  }
}

/** Records the end. Returns undefined if another writer was first: then the caller looks again. */
async function end(open: RunWriter, asked: Asked, { outcome, parts, over }: Ended, at: number): Promise<Ended['outcome'] | undefined> {
  if (over) return outcome
  const wait = { ...slotOf(asked), kind: asked.kind as WaitKind }
  try {
    await open.change({ verb: 'endWait', id: open.id, wait, outcome }, parts, { at })
    return outcome
  } catch (error) {
    // Another wait took the signal, or the question has just been answered.
    if (!isConflict(error, 'signals', 'approvals', 'waits')) throw error
    return undefined
  }
}

/** Ends the waits of branches that lost a race. A wait of an earlier epoch belongs to such a branch. */
export async function leaveWaits(open: RunWriter): Promise<void> {
  // A strict replay leaves them to the holder of the run.
  if (open.strict) return
  for (const wait of open.row.waits) {
    if ((wait.epoch ?? 0) >= open.slots.epoch && !open.replay.isLost(placeOf(wait.branch, wait.epoch))) continue
    const about = { session: open.row.session, run: open.id }
    try {
      await open.change(
        { verb: 'endWait', id: open.id, wait, outcome: { left: true } },
        open.scope.engine.features.waitsLeft(open.scope, [wait], about),
      )
    } catch (error) {
      // The wait ended by itself.
      if (!isConflict(error, 'waits')) throw error
    }
  }
}

export async function storeTime({ scope }: RunWriter): Promise<number> {
  return storeNow(scope)
}

/** Sleeps until an event comes in the tenant, the time is over, or the store's clock has to be read again. */
export const nap = ({ scope }: RunWriter, bell: Bell, ms: number): Promise<void> =>
  bell.rung(Math.min(ms, limits.leaseRenewMs, keeperOf(scope.engine).renewMs))
