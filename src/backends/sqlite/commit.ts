// The one write on SQLite: a batch is one transaction and one flush. All guards of a commit are checked before it writes, so a refused
// commit leaves nothing to undo.

import { Buffer } from 'node:buffer'
import { hex, sameBytes } from '../../model/bytes.ts'
import { bodyDigest, linkHash, receiptDigest } from '../../model/chain.ts'
import { assert } from '../../model/errors.ts'
import { damagedReceipt, type EventDraft, type Receipt } from '../../model/event.ts'
import { type EventId, idBytes, readId, type TenantId } from '../../model/ids.ts'
import { type TableName, tableOf } from '../../model/tables.ts'
import type { TenantState } from '../../model/tenant.ts'
import type { Change, Commit, Guard, Outcome } from '../../ports/commit.ts'
import { isReadableBlob, nameBlobs } from './blob-rows.ts'
import type { Database } from './database.ts'
import { readHead, writeHead } from './heads.ts'
import { toReceipt } from './receipts.ts'
import { sha256 } from './sha256.ts'
import { statements } from './statements.ts'
import { isThere, writeNodes } from './values.ts'

const addEvent = `
  insert into events (tenant, seq, id, at, type, schema, class, actor, session, run, subject, cause, key, payload, salt, digest, hash)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const lastOfSession = 'select max(seq) as seq from events where tenant = ? and session = ?'
const findReceipt = 'select key, seq, count, body, at, digest from receipts where tenant = ? and key = ?'
const addReceipt = 'insert into receipts (tenant, key, seq, count, body, at, digest) values (?, ?, ?, ?, ?, ?, ?)'
const saltOf = 'select salt from events where tenant = ? and seq = ?'
const receiptRows = 'select seq, id, hash from events where tenant = ? and seq >= ? and seq < ? order by seq'
// The plus hides the seq from the planner, which would otherwise read the journal in its order.
export const findBeyond = 'select min(+seq) as seq from events where tenant = ? and id = ? and +seq > ?'
const addReference = 'insert into refs (tenant, seq, ref) values (?, ?, ?) on conflict (tenant, seq, ref) do nothing'
const dropReferences = 'delete from refs where tenant = ? and seq = ?'
const erasePayload = 'update events set payload = null, salt = null where tenant = ? and seq = ?'

interface MovingHead {
  seq: number
  hash: Uint8Array
  state: TenantState
  moved: boolean
  /** The head before this batch. */
  readonly base: number
  /** The first event of every commit in this batch. */
  readonly written: Map<string, number>
  /** Revisions and fences that guards of this batch have read and no change has touched since. */
  readonly stamps: Map<TableName, Map<string, Stamps>>
}

interface Stamps {
  readonly revision: number
  readonly fence: number
}

/** Runs inside the caller's transaction, and does not end it. */
export function applyBatch(db: Database, batch: readonly Commit[], now: number): readonly Outcome[] {
  const heads = new Map<TenantId, MovingHead>()
  const outcomes = batch.map((commit) => {
    let head = heads.get(commit.tenant)
    if (!head) {
      head = movingHead(db, commit.tenant)
      heads.set(commit.tenant, head)
    }
    return applyCommit(db, commit, head, now)
  })
  for (const [tenant, head] of heads) if (head.moved) writeHead(db, tenant, head)
  return outcomes
}

function movingHead(db: Database, tenant: TenantId): MovingHead {
  const { seq, hash, state } = readHead(db, tenant)
  return { seq, hash, state, moved: false, base: seq, written: new Map(), stamps: new Map() }
}

function applyCommit(db: Database, commit: Commit, head: MovingHead, now: number): Outcome {
  if (head.state !== 'active' && isShut(head.state, commit)) return { ok: false, refused: 'tenant', found: head.state, now }
  const earlier = findEarlier(db, commit, head)
  if (earlier && 'damaged' in earlier) return { ok: false, refused: 'failed', found: damagedReceipt(earlier.seq), now }
  if (earlier && 'erased' in earlier) return { ok: false, refused: 'key', found: earlier, now }
  if (earlier) return { ok: true, receipts: readReceipts(db, commit.tenant, earlier.seq, earlier.count), repeated: true, now }
  for (const guard of commit.guards) {
    const found = whatGuardFinds(db, head, commit.tenant, guard)
    if (found !== undefined) return { ok: false, refused: guard, found, now }
  }

  const first = head.seq + 1
  const receipts: Receipt[] = []
  for (const draft of commit.events) {
    const seq = head.seq + 1
    const hash = linkHash(sha256, head.hash, seq, draft.event)
    insertEvent(db, commit.tenant, seq, draft, hash)
    for (const ref of draft.refs ?? []) db.run(addReference, commit.tenant, seq, ref)
    head.seq = seq
    head.hash = hash
    head.moved = true
    receipts.push({ id: draft.id, seq, hash: hexOf(hash), tenant: commit.tenant })
  }
  if (receipts[0]) head.written.set(receipts[0].id, first)
  writeNodes(db, commit, now)
  nameBlobs(db, commit, now)
  for (const change of commit.changes) {
    applyChange(db, commit.tenant, change, first)
    if (change.kind === 'state') {
      head.state = change.state
      head.moved = true
    } else if (change.kind !== 'erase') head.stamps.get(change.table)?.delete(change.id)
  }
  const salt = commit.events[0]?.salt
  if (commit.key && salt) {
    const [key, count, body] = [commit.key.digest, commit.events.length, bodyDigest(sha256, salt, commit.key.body)]
    const digest = receiptDigest(sha256, commit.tenant, { key, seq: first, count, body, at: now })
    db.run(addReceipt, commit.tenant, key, first, count, body, now, digest)
  }
  return { ok: true, receipts, repeated: false, now }
}

/** A tenant that is not active accepts only a change of its state. A deleted tenant stays deleted. */
function isShut(state: TenantState, commit: Commit): boolean {
  const wanted = commit.changes.findLast((change) => change.kind === 'state')?.state
  return wanted === undefined || (state === 'deleted' && wanted !== 'deleted')
}

function insertEvent(db: Database, tenant: TenantId, seq: number, e: EventDraft, hash: Uint8Array): void {
  db.statement(addEvent).run(
    tenant,
    seq,
    idBytes(e.id),
    e.at,
    e.type,
    e.schema,
    e.class,
    e.actor,
    e.session ? idBytes(e.session) : null,
    e.run ? idBytes(e.run) : null,
    e.subject ? idBytes(e.subject) : null,
    e.cause ? idBytes(e.cause) : null,
    e.key ?? null,
    e.payload,
    e.salt,
    e.digest,
    hash,
  )
}

const hexOf = (bytes: Uint8Array<ArrayBuffer>): string => Buffer.from(bytes.buffer).toString('hex')

type Earlier =
  | { readonly seq: number; readonly count: number }
  | { readonly seq: number; readonly erased: boolean }
  | { readonly seq: number; readonly damaged: true }
  | undefined

function findEarlier(db: Database, commit: Commit, head: MovingHead): Earlier {
  const row = commit.key && db.get(findReceipt, commit.tenant, commit.key.digest)
  if (row && commit.key) {
    const receipt = toReceipt(row)
    const { seq } = receipt
    if (!sameBytes(receiptDigest(sha256, commit.tenant, receipt), receipt.digest)) return { seq, damaged: true }
    const salt = db.get(saltOf, commit.tenant, seq)?.salt as Uint8Array | null | undefined
    const same = salt && sameBytes(bodyDigest(sha256, salt, commit.key.body), receipt.body)
    return same ? { seq, count: receipt.count } : { seq, erased: !salt }
  }
  const sought = commit.events[0]
  const seq =
    sought && commit.since !== undefined ? seqBeyond(db, head, { tenant: commit.tenant, since: commit.since, id: sought.id }) : undefined
  return seq === undefined ? undefined : { seq, count: commit.events.length }
}

/** An earlier sending of the event. Where only this batch has written beyond `since`, nothing is read. */
function seqBeyond(
  db: Database,
  { base, written }: MovingHead,
  { tenant, since, id }: { readonly tenant: TenantId; readonly since: number; readonly id: EventId },
): number | undefined {
  if (since < base) return (db.get(findBeyond, tenant, idBytes(id), since)?.seq as number | null | undefined) ?? undefined
  const seq = written.get(id)
  return seq !== undefined && seq > since ? seq : undefined
}

const readReceipts = (db: Database, tenant: TenantId, seq: number, count: number): readonly Receipt[] =>
  db
    .all(receiptRows, tenant, seq, seq + count)
    .map((row) => ({ id: readId<'event'>(row.id as Uint8Array), seq: row.seq as number, hash: hex(row.hash as Uint8Array), tenant }))

/** Returns the value that violates the guard, or `undefined` if the guard holds. */
function whatGuardFinds(db: Database, head: MovingHead, tenant: TenantId, guard: Guard): number | undefined {
  if (guard.kind === 'quiet') {
    const last = (db.get(lastOfSession, tenant, idBytes(guard.session))?.seq as number | null) ?? 0
    return last > guard.after ? last : undefined
  }
  if (guard.kind === 'value') return isThere(db, tenant, guard.ref) ? undefined : 0
  if (guard.kind === 'blob') return isReadableBlob(db, tenant, guard.digest) ? undefined : 0
  // Most commits of a batch guard the same few rows.
  const stamps = head.stamps.get(guard.table)?.get(guard.id) ?? readStamps(db, head, tenant, guard)
  const [wanted, found] = guard.kind === 'row' ? [guard.revision, stamps.revision] : [guard.fence, stamps.fence]
  return found === wanted ? undefined : found
}

function readStamps(
  db: Database,
  head: MovingHead,
  tenant: TenantId,
  { table, id }: { readonly table: TableName; readonly id: string },
): Stamps {
  const row = db.get(statements[table].revision, tenant, id)
  const stamps = { revision: (row?.revision as number | undefined) ?? 0, fence: (row?.fence as number | null | undefined) ?? 0 }
  const known = head.stamps.get(table) ?? new Map<string, Stamps>()
  head.stamps.set(table, known.set(id, stamps))
  return stamps
}

export function applyChange(db: Database, tenant: TenantId, change: Change, first: number): void {
  switch (change.kind) {
    case 'put': {
      const revision = change.event === undefined ? 0 : first + change.event
      const fence = tableOf(change.table).fenced ? [change.grants ? revision : null] : []
      db.run(statements[change.table].put, tenant, change.id, revision, revision, ...fence, ...change.columns, change.body)
      return
    }
    case 'remove':
      db.run(statements[change.table].remove, tenant, change.id)
      return
    case 'state':
      // The state is kept at the head, which is written at the end of the batch.
      return
    case 'erase':
      for (const seq of change.seqs) {
        assert(db.run(erasePayload, tenant, seq) === 1, 'only events that exist are erased')
        db.run(dropReferences, tenant, seq)
      }
  }
}
