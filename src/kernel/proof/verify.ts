// Verifies a journal: walks from its first event to its head, recomputes every digest and link, and reports where it differs from what was
// written. Memory stays constant for a journal of any length.

import { fromUtf8, hex, sameBytes } from '../../model/bytes.ts'
import { eventDigest, GENESIS, linkHash, payloadDigest } from '../../model/chain.ts'
import { InkError, refuse } from '../../model/errors.ts'
import type { EventRecord, Receipt } from '../../model/event.ts'
import { hasForm } from '../../model/event-payload.ts'
import { limits } from '../../model/limits.ts'
import { checkKnown, checkSeq, invalidOption, listOf, optionsOf } from '../../model/options.ts'
import { type TenantState, tenantStates } from '../../model/tenant.ts'
import type { Head } from '../../ports/journal.ts'
import { stopIfAsked } from '../reading/abortable.ts'
import { scanJournal } from '../reading/read-events.ts'
import { SeqRanges } from '../reading/seq-ranges.ts'
import type { Scope } from '../wiring/scope.ts'
import { ERASED, type ErasedData, TENANT_STATE_EVENTS } from '../writing/decider.ts'
import { telling } from '../writing/draft.ts'
import { type KeysReport, verifyKeys } from './verify-keys.ts'
import { type ReferencesReport, ReferenceWalk } from './verify-references.ts'

export type EventState = 'intact' | 'erased' | 'erased-unauthorised' | 'corrupt' | 'missing'

export interface Problem {
  readonly seq: number
  readonly state: EventState
  readonly reason: string
}

/** An event that authorises erased payloads. A chain cannot tell an ordered erasure from a forged one: compare it with your orders. */
export interface Erasure {
  readonly seq: number
  /** Unix milliseconds. */
  readonly at: number
  readonly actor: string
  readonly reason: string
  /** The number of payloads that it authorised. */
  readonly erased: number
}

/** An event whose time lies more than a day before that of the event before it. */
export interface BackwardTime {
  readonly seq: number
  readonly at: number
  readonly previousAt: number
}

export interface VerifyReport {
  readonly intact: boolean
  readonly events: number
  readonly head: { readonly seq: number; readonly hash: string }
  readonly states: Readonly<Record<EventState, number>>
  /** The first event that is damaged or missing. */
  readonly brokenAt?: number
  readonly reason?: string
  /** The first problems, in order. */
  readonly problems: readonly Problem[]
  /** The receipts of idempotency keys. A damaged one makes the report not intact, though the journal itself may be. */
  readonly keys: KeysReport
  /** The list of references beside the journal, compared with what the events say. A difference makes the report not intact. */
  readonly references: ReferencesReport
  /** The evidence for the answer. A chain alone cannot show a cut tail or a rewrite from the start. */
  readonly anchors: { readonly receipts: number }
  /** The first 10,000 erasures, in order. */
  readonly erasures: readonly Erasure[]
  readonly erasureCount: number
  /** The first twenty times that run back: a wrong clock, or an event that was dated back. */
  readonly backwardTimes: readonly BackwardTime[]
}

export interface VerifyOptions {
  /** Earlier receipts of this tenant. */
  readonly receipts?: readonly Receipt[]
  readonly signal?: AbortSignal
  readonly progress?: (done: number, of: number) => void
}

const PROBLEMS_TOLD = 20
const ERASURES_TOLD = 10_000
const TIMES_TOLD = 20
// Clocks of nodes differ by less.
const DAY_MS = 86_400_000
// How often the walk goes on when payloads are erased during it.
const ROUNDS = 100

export async function verify(scope: Scope, options: VerifyOptions = {}): Promise<VerifyReport> {
  const { journal } = scope.engine.backend
  const { receipts = [], signal, progress, ...unknown } = options
  checkKnown(unknown, 'verify')
  if (signal !== undefined && typeof signal?.addEventListener !== 'function') throw invalidOption('signal', 'an AbortSignal', signal)
  if (progress !== undefined && typeof progress !== 'function') throw invalidOption('progress', 'a function', progress)
  const walk = telling(scope, () => new ChainWalk(scope, receipts))
  const references = new ReferenceWalk(scope)
  try {
    let head = await journal.head(scope.tenant)
    for (let round = 1; ; round++) {
      for await (const records of scanJournal(scope, journal, head.seq, {}, walk.seq)) {
        stopIfAsked(scope, signal)
        for (const record of records) walk.visit(record)
        await references.visit(records)
        progress?.(walk.seq, head.seq)
      }
      // A payload that was erased during the walk is authorised by an event beyond the first head, so the walk goes on to the new head.
      if (!walk.awaitsErasure || round === ROUNDS) break
      const now = await journal.head(scope.tenant)
      if (now.seq === head.seq) break
      head = now
    }
    // Heads only grow, so an event that exists before the head is read again cannot lie beyond it.
    const beyond = (await journal.page(scope.tenant, { from: head.seq, limit: 1 })).events[0]
    const now = await journal.head(scope.tenant)
    const misplaced = beyond && beyond.seq > now.seq ? beyond.seq : undefined
    return walk.finish(head, misplaced, await verifyKeys(scope, signal), references.report())
  } catch (error) {
    throw error instanceof InkError && error.code === 'FILE_CORRUPT' ? await withLastGood(scope, walk.seq, error) : error
  }
}

class ChainWalk {
  readonly #scope: Scope
  readonly #anchors: Map<number, string>
  readonly #anchorCount: number
  readonly #problems: Problem[] = []
  readonly #states: Record<EventState, number> = { intact: 0, erased: 0, 'erased-unauthorised': 0, corrupt: 0, missing: 0 }
  readonly #unauthorised = new SeqRanges()
  readonly #erasures: Erasure[] = []
  readonly #backwardTimes: BackwardTime[] = []
  #erasureCount = 0
  #at = 0
  #events = 0
  // The state of the tenant according to the journal.
  #state: TenantState = 'active'
  // Unknown after a gap: the link of the next event cannot be checked, but the one after it can.
  #hash: Uint8Array | undefined = GENESIS
  // After a damaged event the stored hash may be the right one to go on from, or the computed one: either is accepted once.
  #otherHash: Uint8Array | undefined
  seq = 0

  constructor(scope: Scope, receipts: readonly Receipt[]) {
    this.#scope = scope
    const anchors = listOf(receipts, 'receipts')?.map((r) => optionsOf(r, 'receipts')) ?? []
    this.#anchorCount = anchors.length
    this.#anchors = new Map()
    for (const { tenant, seq, hash } of anchors) {
      checkSeq(seq)
      if (typeof hash !== 'string' || !/^[0-9a-f]{64}$/.test(hash))
        throw refuse('OPTION_INVALID', { option: 'receipts', why: `the receipt of seq ${seq} has no valid hash` })
      if (tenant !== scope.tenant)
        throw refuse('OPTION_INVALID', {
          option: 'receipts',
          why: `the receipt of seq ${seq} belongs to tenant ${tenant}, not to ${scope.tenant}`,
        })
      const other = this.#anchors.get(seq)
      if (other !== undefined && other !== hash) this.#problem(seq, 'corrupt', 'two receipts disagree about this event')
      this.#anchors.set(seq, hash)
    }
  }

  get awaitsErasure(): boolean {
    return this.#unauthorised.ranges().length > 0
  }

  visit(e: EventRecord): void {
    const { sha256 } = this.#scope.engine.environment.digest
    this.#gap(e.seq - 1)
    this.seq = e.seq
    this.#events++
    this.#state = tenantStates.find((state) => TENANT_STATE_EVENTS[state] === e.type) ?? this.#state
    if (e.at < this.#at - DAY_MS && this.#backwardTimes.length < TIMES_TOLD)
      this.#backwardTimes.push({ seq: e.seq, at: e.at, previousAt: this.#at })
    this.#at = e.at
    const reason = this.#contentFlaw(e)
    const event = eventDigest(sha256, this.#scope.tenant, e, e.digest)
    const computed = this.#hash && linkHash(sha256, this.#hash, e.seq, event)
    const linked =
      computed === undefined ||
      sameBytes(computed, e.hash) ||
      (this.#otherHash !== undefined && sameBytes(linkHash(sha256, this.#otherHash, e.seq, event), e.hash))
    this.#otherHash = linked ? undefined : computed
    this.#hash = e.hash
    const anchor = this.#anchors.get(e.seq)
    this.#anchors.delete(e.seq)

    if (reason) this.#problem(e.seq, 'corrupt', reason)
    else if (!linked) this.#problem(e.seq, 'corrupt', 'the header or the hash is not what was written')
    else if (anchor !== undefined && anchor !== hex(e.hash)) this.#problem(e.seq, 'corrupt', 'a receipt says that another event stood here')
    else if (e.payload === undefined) this.#unauthorised.add(e.seq)
    else {
      this.#states.intact++
      if (e.type === ERASED) this.#authorise(e, e.payload)
    }
  }

  finish(head: Head, beyond: number | undefined, keys: KeysReport, references: ReferencesReport): VerifyReport {
    this.#gap(head.seq)
    if (beyond !== undefined) this.#problem(beyond, 'corrupt', `an event stands beyond the head, which is ${head.seq}`)
    if (this.seq === head.seq && this.#hash && !sameBytes(this.#hash, head.hash))
      this.#problem(head.seq, 'corrupt', 'the head is not the hash of the last event')
    if (this.seq === head.seq && this.#state !== head.state)
      this.#problem(head.seq, 'corrupt', `the head says that the tenant is ${head.state}, the journal says ${this.#state}`)
    for (const seq of [...this.#anchors.keys()].sort((a, b) => a - b))
      this.#problem(seq, 'missing', 'a receipt names this event, but the journal ends before it')
    for (const [from, to] of this.#unauthorised.ranges()) {
      this.#states['erased-unauthorised'] += to - from
      this.#problem(
        from,
        'erased-unauthorised',
        to > from ? `no event authorises the erasure of ${from} to ${to}` : 'no event authorises this erasure',
      )
    }
    this.#problems.sort((a, b) => a.seq - b.seq)
    const first = this.#problems[0]
    const reason = first?.reason ?? keys.problems[0]?.reason ?? references.problems[0]?.reason
    return {
      intact: first === undefined && keys.intact && references.intact,
      events: this.#events,
      head: { seq: head.seq, hash: hex(head.hash) },
      states: this.#states,
      ...(first && { brokenAt: first.seq }),
      ...(reason !== undefined && { reason }),
      problems: this.#problems.slice(0, PROBLEMS_TOLD),
      keys,
      references,
      anchors: { receipts: this.#anchorCount },
      erasures: this.#erasures,
      erasureCount: this.#erasureCount,
      backwardTimes: this.#backwardTimes,
    }
  }

  #contentFlaw(e: EventRecord): string | undefined {
    if ((e.payload === undefined) !== (e.salt === undefined)) return 'payload and salt do not belong together'
    if (e.payload === undefined || e.salt === undefined) return undefined
    const { sha256 } = this.#scope.engine.environment.digest
    if (!sameBytes(payloadDigest(sha256, e.salt, e.payload), e.digest)) return 'the payload, its salt or its digest is not what was written'
    return hasForm(e.schema, fromUtf8(e.payload)) ? undefined : 'the payload has not the form that its header names'
  }

  // An erasure that does not name its events authorises nothing. Those events are reported as erased without authorisation.
  #authorise({ seq, at, actor }: EventRecord, payload: Uint8Array): void {
    const { seqs, reason } = erasedBy(payload)
    let erased = 0
    for (const [from, to] of seqs) erased += this.#unauthorised.remove(from, Math.min(to, seq - 1))
    this.#states.erased += erased
    this.#erasureCount++
    if (this.#erasures.length < ERASURES_TOLD) this.#erasures.push({ seq, at, actor, reason, erased })
  }

  #gap(upTo: number): void {
    if (upTo <= this.seq) return
    this.#states.missing += upTo - this.seq - 1
    for (const seq of this.#anchors.keys()) if (seq > this.seq && seq <= upTo) this.#anchors.delete(seq)
    this.#problem(
      this.seq + 1,
      'missing',
      upTo > this.seq + 1 ? `events ${this.seq + 1} to ${upTo} are not there` : 'the event is not there',
    )
    this.seq = upTo
    this.#hash = undefined
    this.#otherHash = undefined
  }

  #problem(seq: number, state: EventState, reason: string): void {
    this.#states[state]++
    // Only the first problems are kept, so that the report of a full rewrite does not fill the memory.
    if (this.#problems.length < 1000) this.#problems.push({ seq, state, reason })
  }
}

// The damaged page lies somewhere after the last event that was read. Read on one by one until it is found.
async function withLastGood(scope: Scope, from: number, error: InkError): Promise<InkError> {
  let last = from
  for (let i = 0; i <= limits.pageEvents; i++) {
    try {
      const page = await scope.engine.backend.journal.page(scope.tenant, { from: last, limit: 1 })
      const next = page.events[0]
      if (!next) break
      last = next.seq
    } catch (cause) {
      return refuse('FILE_CORRUPT', { ...error.details, lastGoodSeq: last }, cause)
    }
  }
  return refuse('FILE_CORRUPT', { ...error.details, lastGoodSeq: last }, error)
}

function erasedBy(payload: Uint8Array): ErasedData {
  let data: Partial<ErasedData> | null
  try {
    data = JSON.parse(fromUtf8(payload))
  } catch {
    return { seqs: [], reason: '' }
  }
  const isRange = (r: unknown): boolean => Array.isArray(r) && r.length === 2 && r.every(Number.isSafeInteger) && r[0] > 0 && r[0] <= r[1]
  return {
    seqs: Array.isArray(data?.seqs) && data.seqs.every(isRange) ? data.seqs : [],
    reason: typeof data?.reason === 'string' ? data.reason : '',
  }
}
