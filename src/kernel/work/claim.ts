// A claim: an item in hand, under a fence. It is settled once, by whoever holds the newest one.

import { type ErrorKind, InkError, refuse } from '../../model/errors.ts'
import type { Id, TenantId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import { checkKnown, optionsOf } from '../../model/options.ts'
import { type Body, decodeBody, type StoredRow } from '../../model/rows.ts'
import type { ErrorData, Stored } from '../../model/run.ts'
import { type Duration, milliseconds } from '../../model/time.ts'
import type { WorkRow } from '../../model/work.ts'
import type { Guard } from '../../ports/commit.ts'
import { type Done, type DoneRow, type Part, part, plan } from '../execute.ts'
import { errorData, load } from '../json-or-blob.ts'
import type { Scope } from '../scope.ts'
import { storeNow } from '../store-time.ts'
import type { ClaimHold } from './claim-renewal.ts'
import { followers, following, type Move } from './item-origin.ts'
import { isSpent, type WorkCommand, work } from './work-decider.ts'

export interface FailOptions {
  /** There is no use in trying again. */
  readonly final?: boolean
  /** How long it rests this time. */
  readonly delay?: Duration
}

export interface Claim<T = unknown> extends AsyncDisposable {
  readonly id: Id<'work'>
  readonly tenant: TenantId
  readonly queue: string
  readonly payload: T
  /** From 1. */
  readonly attempt: number
  readonly fence: number
  readonly key: string | undefined
  readonly group: string | undefined
  /** What it came from: an occurrence of a job, with the time it was meant for; a trigger. */
  readonly origin: WorkRow['origin']
  /** Aborted when the claim is lost. */
  readonly signal: AbortSignal
  /** FENCE_LOST where it is somebody else's by now. */
  complete(): Promise<void>
  /** Tried again after a rest; without attempts left, or with `final`, it is dead, and stays for somebody to look at. */
  fail(error: unknown, options?: FailOptions): Promise<'ready' | 'dead'>
  /** Holds on for so long from now, or for as long as it was claimed. */
  renew(lease?: Duration): Promise<void>
  /** Gives it back, due at once or later. Leaving the scope does the same. */
  release(options?: { readonly delay?: Duration }): Promise<void>
}

type Settle = Extract<WorkCommand, { verb: 'complete' | 'fail' | 'release' }>

export class HeldClaim<T = unknown> implements Claim<T> {
  readonly scope: Scope
  readonly id: Id<'work'>
  readonly payload: T
  /** When it was due, where it was nobody's before. */
  readonly dueAt: number | undefined
  readonly #row: DoneRow
  readonly #hold: ClaimHold
  #how: Move | undefined
  #doubted = false

  constructor(scope: Scope, row: DoneRow, payload: T, hold: ClaimHold, dueAt?: number) {
    this.scope = scope
    this.id = hold.id
    this.payload = payload
    this.dueAt = dueAt
    this.#row = row
    this.#hold = hold
  }

  get row(): WorkRow {
    return this.#row.body as unknown as WorkRow
  }
  get tenant(): TenantId {
    return this.scope.tenant
  }
  get queue(): string {
    return this.row.queue
  }
  get attempt(): number {
    return this.row.attempt
  }
  get key(): string | undefined {
    return this.row.key
  }
  get group(): string | undefined {
    return this.row.group
  }
  get origin(): WorkRow['origin'] {
    return this.row.origin
  }
  get fence(): number {
    return this.#hold.fence
  }
  get signal(): AbortSignal {
    return this.#hold.lost.signal
  }
  /** How it was settled, or is being settled just now. */
  get how(): Move | undefined {
    return this.#how
  }
  get isSettled(): boolean {
    return this.#how !== undefined
  }

  get leaseMs(): number {
    return this.#hold.leaseMs
  }
  /** It was settled, and the store did not say whether that was saved. */
  get wasDoubted(): boolean {
    return this.#doubted
  }

  async complete(): Promise<void> {
    await this.settle({ verb: 'complete' }, 'completed')
  }

  async fail(thrown: unknown, options?: FailOptions): Promise<'ready' | 'dead'> {
    const { final = false, delay, ...unknown } = optionsOf(options, 'fail')
    checkKnown(unknown, 'a failure')
    const error = errorData(this.scope, thrown)
    const rest = delay === undefined ? undefined : milliseconds(delay)
    const dies = final || isSpent(this.row)
    const now = await storeNow(this.scope)
    await this.settle({ verb: 'fail', now, error, final, restMs: rest }, dies ? 'died' : 'failed', [], [], error)
    return dies ? 'dead' : 'ready'
  }

  async release(options?: { readonly delay?: Duration }): Promise<void> {
    const { delay, ...unknown } = optionsOf(options, 'release')
    checkKnown(unknown, 'a release')
    const wait = delay === undefined ? 0 : milliseconds(delay)
    await this.giveBack(wait, false)
  }

  /** `unused`: whoever took it did not get to it, and it keeps its place. */
  async giveBack(delayMs: number, unused: boolean): Promise<void> {
    const now = await storeNow(this.scope, delayMs > 0)
    const at = unused && delayMs === 0 ? (this.dueAt ?? now) : now + delayMs
    const dies = !unused && isSpent(this.row)
    const error = { name: 'GivenBack', message: 'given back at the last attempt' }
    await this.settle({ verb: 'release', at, ...(unused && { unused }) }, dies ? 'died' : 'released', [], [], dies ? error : undefined)
  }

  async renew(lease?: Duration): Promise<void> {
    this.#checkOpen()
    await this.scope.engine.holds.renew([this.#hold], lease === undefined ? undefined : milliseconds(lease))
    if (this.signal.aborted) throw this.signal.reason
  }

  /** Settles it in one commit with whatever else is to happen then. */
  async settle(command: Settle, move: Move, more: readonly Part[] = [], guards: readonly Guard[] = [], error?: ErrorData): Promise<Done> {
    const own = this.settlement(command, move)
    try {
      const { row, id } = this
      const fence: Guard = { kind: 'fence', table: 'work', id, fence: this.fence }
      const done = await following(this.scope, { item: id, row, move, ...(error && { error }) }, (followed) =>
        plan(this.scope, [own, ...followed, ...more], { guards: [fence, ...guards] }),
      )
      this.letGo()
      return done
    } catch (refusal) {
      this.unsettled(refusal)
      throw refusal
    }
  }

  /** Its part in a commit that settles it. Whoever makes that commit lets go of it afterwards, or says why it is `unsettled`. */
  settlement(command: Settle, move: Move): Part {
    this.#checkOpen()
    this.#how = move
    this.#hold.settling = true
    const { id, fence } = this
    return part(work, id, { ...command, by: { id, fence } }, { seen: this.#row })
  }

  unsettled(refusal: unknown): void {
    if (refusal instanceof InkError && refusal.code === 'FENCE_LOST') {
      this.letGo()
      this.#hold.lost.abort(refusal)
      return
    }
    this.#how = undefined
    this.#hold.settling = false
    this.#doubted ||= refusal instanceof InkError && refusal.kind === 'unknown'
  }

  /** Nobody goes on with it here: it is not renewed any more, so that it comes to somebody else. */
  letGo(): void {
    this.scope.engine.holds.letGo(this.#hold)
  }

  #checkOpen(): void {
    if (this.#how) throw refuse('CLAIM_SETTLED', { item: this.id, how: this.#how })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#how) return
    try {
      await this.release()
    } catch (error) {
      // It is somebody else's by now, and nobody asked for it to be given back by name.
      if (!(error instanceof InkError && error.code === 'FENCE_LOST')) throw error
      this.scope.engine.environment.logger.warn('a claim was lost before it was settled', { item: this.id, queue: this.queue })
    } finally {
      this.letGo()
    }
  }
}

/** When an item was seen: what the store's clock said, and our own steady one just before that was asked. */
export interface Seen {
  readonly now: number
  readonly asked: number
}

export interface Taking {
  readonly parts: readonly Part[]
  readonly guards: readonly Guard[]
  readonly asked: number
}

/** What it takes to claim an item as it was seen: nobody else has touched it since. It is held from now on, whenever it was seen. */
export async function taking(scope: Scope, stored: StoredRow, seen: Seen, leaseMs: number): Promise<Taking> {
  const row = decodeBody<WorkRow & Body>(stored.body)
  const { own, asked, now } = takingAlone(scope, stored, row, seen, leaseMs)
  const { id, revision } = stored
  const followed = await followers(scope, { item: id as Id<'work'>, row, move: 'claimed', now })
  return { asked, parts: [own, ...followed], guards: [{ kind: 'row', table: 'work', id, revision }] }
}

/** The same for one that nobody follows. */
export function takingAlone(
  scope: Scope,
  { id, revision }: StoredRow,
  row: WorkRow,
  seen: Seen,
  leaseMs: number,
): { readonly own: Part; readonly asked: number; readonly now: number } {
  const { keeper, environment } = scope.engine
  const { owner, incarnation, mark } = keeper.holder
  const asked = environment.clock.monotonic()
  const now = Math.floor(seen.now + asked - seen.asked)
  const command = { verb: 'claim', owner, incarnation, ...(mark && { mark }), now, until: now + leaseMs, free: true } as const
  return { own: part(work, id as Id<'work'>, command, { seen: { body: row as WorkRow & Body, revision } }), asked, now }
}

interface Taken {
  readonly id: string
  /** When it was due, where it was nobody's before. */
  readonly dueAt: number | undefined
  readonly leaseMs: number
  readonly asked: number
  readonly renew: boolean
}

/** In hand, once the commit that took it is there: at once, unless what it says lies elsewhere. */
export function inHand<T>(scope: Scope, row: DoneRow, { id, dueAt, leaseMs, asked, renew }: Taken): HeldClaim<T> | Promise<HeldClaim<T>> {
  const { holds } = scope.engine
  const hold = holds.take(scope.tenant, id as Id<'work'>, row.revision, leaseMs, asked)
  if (renew) holds.keep(hold)
  const { payload } = row.body as unknown as WorkRow
  const held = (value: unknown) => new HeldClaim<T>(scope, row, value as T, hold, dueAt)
  return payload?.firing || payload?.blob ? loaded(scope, payload, held) : held(payload?.value)
}

async function loaded<T>(scope: Scope, payload: Stored, held: (value: unknown) => HeldClaim<T>): Promise<HeldClaim<T>> {
  try {
    return held(await load(scope, payload))
  } catch (error) {
    await setAside(held(undefined), error)
    throw error
  }
}

/** What it says cannot be read: for good, then somebody has to mend that; or just now, then it rests, and nobody has tried it. */
async function setAside<T>(claim: HeldClaim<T>, error: unknown): Promise<void> {
  const forGood = error instanceof InkError && LASTING.includes(error.kind)
  try {
    await (forGood ? claim.fail(error, { final: true }) : claim.giveBack(limits.workBackoffMs, true))
  } catch (unsettled) {
    const { logger } = claim.scope.engine.environment
    logger.error('an item that cannot be read could not be given back', { item: claim.id, queue: claim.queue, error: String(unsettled) })
  } finally {
    claim.letGo()
  }
}

const LASTING: readonly ErrorKind[] = ['missing', 'corrupt', 'invalid']
