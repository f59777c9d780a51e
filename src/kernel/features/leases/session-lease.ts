// A lease of a session without a run: the exclusive right to write for the session, until it is released or expires. Runs of the session
// need the same lease, so they wait for it. Each lease has an incarnation of its own and is not shared, also not within this process.

import { InkError, refuse } from '../../../model/errors.ts'
import type { Id, SessionId } from '../../../model/ids.ts'
import type { LeaseRow } from '../../../model/lease.ts'
import { checkKnown, invalidOption, optionsOf } from '../../../model/options.ts'
import { type Duration, milliseconds } from '../../../model/time.ts'
import { sessionLeaseId } from '../../naming/names.ts'
import { stopIfAsked } from '../../reading/abortable.ts'
import { Bell } from '../../reading/read-events.ts'
import type { Renewable } from '../../time/renewals.ts'
import { enginePart } from '../../wiring/per-engine.ts'
import { checkOpen, type Engine, type Scope } from '../../wiring/scope.ts'
import { isConflict } from '../../writing/commit-outcome.ts'
import { type DoneRow, part, plan } from '../../writing/execute.ts'
import { FENCE, type Fence, type HasFence } from '../../writing/fence.ts'
import { heldBy, keeperOf, type Standing } from './keeper.ts'
import { lease } from './lease-decider.ts'

export interface SessionLeaseOptions {
  /** How long the lease lasts without a renewal. The default is the `ttl` of the store. */
  readonly ttl?: Duration
  /** How long to wait for the present holder. The default is not to wait. */
  readonly wait?: Duration
  readonly signal?: AbortSignal
}

/** The holder whose lease had expired, or whose process was gone, when the next holder took the lease. */
export interface Displaced {
  readonly owner: string
  readonly fence: number
  /** Store time. */
  readonly lapsedAt: number
}

export interface SessionLease extends AsyncDisposable {
  /** The seq of the event that granted the lease. */
  readonly fence: number
  /** The holder before, if it had not released the lease. */
  readonly displaced: Displaced | undefined
  /** Extends the lease to `ttl` from now. Nothing else renews it. FENCE_LOST when another holder has taken it. */
  renew(): Promise<void>
  /** Gives the lease back. */
  release(): Promise<void>
  /** Gives the lease back if it is still held, as leaving the scope of `await using` does. */
  close(): Promise<void>
}

// The longest time between two looks at a lease: a released lease rings the bell, an expired one does not.
const LOOK_MS = 1000

export async function takeSessionLease(scope: Scope, session: SessionId, options?: SessionLeaseOptions): Promise<SessionLease> {
  const { engine, tenant } = scope
  checkOpen(engine)
  const { ttl, wait = 0, signal, ...unknown } = optionsOf(options, 'lease')
  checkKnown(unknown, 'a lease')
  const keeper = keeperOf(engine)
  const ttlMs = ttl === undefined ? keeper.ttlMs : milliseconds(ttl)
  if (ttlMs < 1) throw invalidOption('ttl', 'at least 1 ms', ttl)
  const { monotonic } = engine.environment.clock
  const until = monotonic() + milliseconds(wait)
  const id = sessionLeaseId(scope, session)
  const holder = { ...keeper.holder, incarnation: engine.newId() }
  const bell = new Bell(scope, [signal, engine.closing])
  try {
    for (;;) {
      bell.reset()
      stopIfAsked(scope, signal)
      const standing = await keeper.look(tenant, id)
      const { row, revision, now, previous } = standing
      const held = heldBy('', standing)
      if (!isFree(standing)) {
        const left = until - monotonic()
        if (left <= 0) throw refuse('SESSION_HELD', { ...held, session })
        await bell.rung(Math.min(left, standing.until - now, LOOK_MS))
        continue
      }
      const command = { verb: 'take', ...holder, until: now + ttlMs, ttlMs, free: true, previous, held } as const
      const take = part(lease, id, command, { session, seen: { body: row, revision } })
      const asked = monotonic()
      const taken = await plan(scope, [take], { open: session, guards: [standing.guard] }).catch(unlessMoved)
      // Another holder was first: look again.
      if (!taken) continue
      const fence = taken.rows[0].revision
      const hold: RenewableLease = {
        tenant,
        table: 'leases',
        id,
        fence,
        leaseMs: ttlMs,
        renewMs: ttlMs / 3,
        lost: new AbortController(),
        sureUntil: asked + ttlMs,
        releasing: false,
      }
      return new SessionLeaseHandle(scope, session, hold, taken.rows[0], displacedOf(standing))
    }
  } finally {
    bell.close()
  }
}

/** A lease that a run of this process holds is free for the runs of this process, and for nobody else. */
const isFree = ({ free, row, previous }: Standing): boolean => free && !(row?.state === 'held' && previous?.why === 'released')

function displacedOf({ row, fence, now, previous }: Standing): Displaced | undefined {
  if (!row || !previous || previous.why === 'released') return undefined
  // A process that was proven gone can no longer use the time that it had left.
  return { owner: row.owner, fence, lapsedAt: Math.min(previous.until ?? now, now) }
}

function unlessMoved(error: unknown): undefined {
  if (isConflict(error, 'leases')) return undefined
  throw error
}

type RenewableLease = Renewable & { readonly id: Id<'lease'> }

class SessionLeaseHandle implements SessionLease, HasFence {
  readonly #scope: Scope
  readonly #session: SessionId
  readonly #hold: RenewableLease
  readonly #row: DoneRow<LeaseRow>
  readonly displaced: Displaced | undefined
  /** The release, underway or done. */
  #release: Promise<void> | undefined

  constructor(scope: Scope, session: SessionId, hold: RenewableLease, row: DoneRow<LeaseRow>, displaced: Displaced | undefined) {
    this.#scope = scope
    this.#session = session
    this.#hold = hold
    this.#row = row
    this.displaced = displaced
    sessionLeasesOf(scope.engine).add(this)
  }

  get fence(): number {
    return this.#hold.fence
  }

  async renew(): Promise<void> {
    this.#checkHeld()
    await this.#scope.engine.renewals.renew([this.#hold])
    this.#checkHeld()
  }

  release(): Promise<void> {
    this.#release ??= this.#giveBack().catch((error: unknown) => {
      this.#release = undefined
      this.#hold.releasing = false
      if (error instanceof InkError && error.code === 'FENCE_LOST') this.#lose(error)
      throw error
    })
    return this.#release
  }

  async #giveBack(): Promise<void> {
    const { lost } = this.#hold
    if (lost.signal.aborted) throw lost.signal.reason
    this.#hold.releasing = true
    await plan(this.#scope, [this.#releasePart], { guards: [this.#guard] })
    sessionLeasesOf(this.#scope.engine).delete(this)
  }

  get #releasePart() {
    const command = { verb: 'release', incarnation: this.#row.body?.incarnation ?? '', fence: this.fence } as const
    return part(lease, this.#hold.id, command, { session: this.#session, seen: this.#row })
  }

  [FENCE](): Fence {
    this.#checkHeld()
    const done = () => {
      this.#hold.releasing = true
      this.#release = Promise.resolve()
      sessionLeasesOf(this.#scope.engine).delete(this)
    }
    return {
      tenant: this.#scope.tenant,
      guard: this.#guard,
      lost: (error) => this.#lose(error),
      release: { part: this.#releasePart, done },
    }
  }

  get #guard() {
    return { kind: 'fence', table: 'leases', id: this.#hold.id, fence: this.fence } as const
  }

  /** Refuses a lease that is known to be lost, or was released. One that has expired may be free still. */
  #checkHeld(): void {
    if (this.#release) throw refuse('CLAIM_SETTLED', { session: this.#session, how: 'released' })
    const { signal } = this.#hold.lost
    if (!signal.aborted) return
    sessionLeasesOf(this.#scope.engine).delete(this)
    throw signal.reason
  }

  #lose(error: InkError): void {
    sessionLeasesOf(this.#scope.engine).delete(this)
    this.#hold.lost.abort(error)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async close(): Promise<void> {
    try {
      await this.release()
    } catch (error) {
      // Another holder has the lease by now, and the caller did not ask for the release by name.
      if (!(error instanceof InkError && error.code === 'FENCE_LOST')) throw error
      this.#scope.engine.environment.logger.warn('a lease was lost before it was released', { session: this.#session })
    }
  }
}

/** The session leases that this process has not released. */
const sessionLeasesOf = enginePart(() => new Set<SessionLeaseHandle>())

/** Releases every session lease when the store closes. A lease that cannot be released expires. */
export async function releaseSessionLeases(engine: Engine): Promise<void> {
  for (const held of [...sessionLeasesOf(engine)])
    await held.release().catch((error: unknown) => {
      engine.environment.logger.warn('a lease could not be given back', { fence: held.fence, error: String(error) })
    })
}
