// Checks the receipts of idempotency keys: each against its own digest, and against the events that it names. A damaged receipt would answer
// an honest retry with the wrong events, or refuse it.

import { fromUtf8, sameBytes } from '../../model/bytes.ts'
import { canonical } from '../../model/canonical.ts'
import { bodyDigest, keyDigest, receiptDigest } from '../../model/chain.ts'
import { type EventRecord, TRANSIENT } from '../../model/event.ts'
import { openPayload } from '../../model/event-payload.ts'
import { limits } from '../../model/limits.ts'
import type { StoredReceipt } from '../../ports/upkeep.ts'
import { ID_SCOPE } from '../naming/chosen-ids.ts'
import { stopIfAsked } from '../reading/abortable.ts'
import { checkOpen, type Scope } from '../wiring/scope.ts'
import { appendBody } from '../writing/append-body.ts'

export interface KeyProblem {
  /** The first event of the commit, as the receipt says. */
  readonly seq: number
  readonly reason: string
}

export interface KeysReport {
  readonly intact: boolean
  /** Number of receipts. */
  readonly receipts: number
  /** The first problems, ordered by seq. */
  readonly problems: readonly KeyProblem[]
}

const AT_A_TIME = 500
const READS_AT_ONCE = 8
const PROBLEMS_TOLD = 20

export async function verifyKeys(scope: Scope, signal?: AbortSignal): Promise<KeysReport> {
  checkOpen(scope.engine)
  const { upkeep, journal } = scope.engine.backend
  const problems: KeyProblem[] = []
  let receipts = 0
  for (let after: Uint8Array | undefined; ; ) {
    stopIfAsked(scope, signal)
    const page = await upkeep.receipts(scope.tenant, after, AT_A_TIME)
    // Receipts are written with their events, so the head that is read after them covers them.
    const head = page.length > 0 ? (await journal.head(scope.tenant)).seq : 0
    for (let i = 0; i < page.length; i += READS_AT_ONCE) {
      stopIfAsked(scope, signal)
      const few = page.slice(i, i + READS_AT_ONCE)
      const flaws = await Promise.all(few.map((receipt) => flawOf(scope, receipt, head)))
      for (const [n, reason] of flaws.entries()) if (reason !== undefined) problems.push({ seq: few[n]?.seq ?? 0, reason })
    }
    receipts += page.length
    after = page.at(-1)?.key
    if (page.length < AT_A_TIME) break
  }
  problems.sort((a, b) => a.seq - b.seq)
  return { intact: problems.length === 0, receipts, problems: problems.slice(0, PROBLEMS_TOLD) }
}

async function flawOf(scope: Scope, receipt: StoredReceipt, head: number): Promise<string | undefined> {
  const { sha256 } = scope.engine.environment.digest
  const { key, seq, count, body } = receipt
  if (!sameBytes(receiptDigest(sha256, scope.tenant, receipt), receipt.digest))
    return 'the receipt of an idempotency key is not what was written'
  if (seq < 1 || count < 1 || count > limits.commitEvents || seq + count - 1 > head)
    return 'the receipt of an idempotency key names events that are not there'
  const events = await eventsAt(scope, seq, count)
  if (events.length < count || events.some((e) => e.key === undefined || !sameBytes(e.key, key)))
    return 'the receipt of an idempotency key names events that were written under another key'
  try {
    const computed = bodyOf(scope, key, events)
    if (computed !== undefined && !sameBytes(computed, body)) return 'the receipt of an idempotency key is of another command'
  } catch {
    // A damaged payload is not JSON any more, or JSON that no append would take.
    return 'the receipt of an idempotency key names an event whose payload is damaged'
  }
  return undefined
}

/** The digest of the command of an append, computed from its events; undefined for other commands and erased payloads. */
function bodyOf(scope: Scope, key: Uint8Array, events: readonly EventRecord[]): Uint8Array | undefined {
  const { environment, registry } = scope.engine
  const salt = events[0]?.salt
  const commands: object[] = []
  for (const { id, at, type, session, run, cause, class: kind, schema, payload } of events) {
    if (payload === undefined || registry.isReserved(type)) return undefined
    const { refs, data, blob } = openPayload(schema, JSON.parse(fromUtf8(payload))) ?? {}
    const byId = sameBytes(key, keyDigest(environment.digest.sha256, scope.tenant, ID_SCOPE, id)) && { id, at }
    commands.push(appendBody({ type, session, run, cause, transient: kind === TRANSIENT, data: blob ?? data, refs, ...byId }))
  }
  return salt && bodyDigest(environment.digest.sha256, salt, canonical(commands))
}

async function eventsAt(scope: Scope, seq: number, count: number): Promise<readonly EventRecord[]> {
  const events: EventRecord[] = []
  for (let from = seq - 1; from < seq + count - 1; ) {
    const page = await scope.engine.backend.journal.page(scope.tenant, { from, to: seq + count - 1, limit: seq + count - 1 - from })
    if (page.events.length === 0) break
    events.push(...page.events)
    from = page.through
  }
  return events
}
