// The one write in its shortest correct form: look for an earlier send, check, then apply.

import { hex, sameBytes, utf8 } from '../../model/bytes.ts'
import { bodyDigest, GENESIS, linkHash, receiptDigest, type Sha256 } from '../../model/chain.ts'
import { assert } from '../../model/errors.ts'
import type { EventRecord, Receipt } from '../../model/event.ts'
import type { TenantId } from '../../model/ids.ts'
import { tableOf } from '../../model/tables.ts'
import type { TenantState } from '../../model/tenant.ts'
import type { Change, Commit, Guard, Outcome } from '../../ports/commit.ts'
import { isReadable, nameBlobs } from './blobs.ts'
import { emptyTenant, type MemoryRows, type MemoryState, type MemoryTenant, tableRows } from './state.ts'
import { addNodes, nameNodes } from './values.ts'

export function applyCommit(state: MemoryState, commit: Commit, sha256: Sha256, now: number): Outcome {
  const tenant = state.tenants.get(commit.tenant) ?? emptyTenant()
  if (isShut(tenant.state, commit)) return { ok: false, refused: 'tenant', found: tenant.state, now }

  const earlier = findEarlier(tenant, commit, sha256)
  if (earlier === 'reused') return { ok: false, refused: 'key', found: reusedAt(tenant, commit), now }
  if (earlier) return { ok: true, receipts: earlier.map((e) => receiptOf(commit.tenant, e)), repeated: true, now }

  for (const guard of commit.guards) {
    const found = whatGuardFinds(tenant, guard)
    if (found !== undefined) return { ok: false, refused: guard, found, now }
  }

  const first = tenant.events.length + 1
  const beyond = commit.changes.find((c) => c.kind === 'erase' && c.seqs.some((seq) => seq < 1 || seq >= first + commit.events.length))
  if (beyond) return { ok: false, refused: 'failed', found: 'only events that exist are erased', now }

  if (commit.events.length + commit.changes.length + (commit.nodes?.length ?? 0) > 0) state.tenants.set(commit.tenant, tenant)
  for (const draft of commit.events) {
    const seq = tenant.events.length + 1
    const hash = linkHash(sha256, tenant.events.at(-1)?.hash ?? GENESIS, seq, draft.event)
    const { event: _, refs = [], ...kept } = draft
    tenant.references = [...tenant.references, ...[...new Set(refs)].sort().map((ref) => ({ seq, ref }))]
    tenant.events.push({ ...kept, seq, payload: utf8(draft.payload), hash })
  }
  nameNodes(tenant, commit, now)
  nameBlobs(tenant, commit, now)
  addNodes(tenant, commit, now)
  for (const change of commit.changes) {
    if (change.kind === 'state') tenant.state = change.state
    applyChange(tenant.rows, change, first, (seqs) => erase(tenant, seqs))
  }
  const salt = commit.events[0]?.salt
  if (commit.key && salt) {
    const body = bodyDigest(sha256, salt, commit.key.body)
    const receipt = { key: commit.key.digest, seq: first, count: commit.events.length, body, at: now }
    tenant.receipts.set(hex(receipt.key), { ...receipt, digest: receiptDigest(sha256, commit.tenant, receipt) })
  }
  return { ok: true, receipts: tenant.events.slice(first - 1).map((e) => receiptOf(commit.tenant, e)), repeated: false, now }
}

/** A tenant that is not active accepts only a change of its state. A deleted tenant stays deleted. */
function isShut(state: TenantState, commit: Commit): boolean {
  if (state === 'active') return false
  const wanted = commit.changes.findLast((change) => change.kind === 'state')?.state
  return wanted === undefined || (state === 'deleted' && wanted !== 'deleted')
}

function findEarlier(tenant: MemoryTenant, commit: Commit, sha256: Sha256): readonly EventRecord[] | 'reused' | undefined {
  const receipt = commit.key && tenant.receipts.get(hex(commit.key.digest))
  if (receipt && commit.key) {
    const salt = tenant.events[receipt.seq - 1]?.salt
    if (!salt || !sameBytes(bodyDigest(sha256, salt, commit.key.body), receipt.body)) return 'reused'
    return tenant.events.slice(receipt.seq - 1, receipt.seq - 1 + receipt.count)
  }
  const sought = commit.events[0]
  if (commit.since === undefined || !sought) return undefined
  for (let at = commit.since; at < tenant.events.length; at++) {
    if (tenant.events[at]?.id === sought.id) return tenant.events.slice(at, at + commit.events.length)
  }
  return undefined
}

function reusedAt(tenant: MemoryTenant, commit: Commit): { seq: number; erased: boolean } {
  const receipt = commit.key && tenant.receipts.get(hex(commit.key.digest))
  assert(receipt, 'a reused key has a receipt')
  return { seq: receipt.seq, erased: tenant.events[receipt.seq - 1]?.salt === undefined }
}

/** Returns the value that violates the guard, or `undefined` if the guard holds. */
function whatGuardFinds(tenant: MemoryTenant, guard: Guard): number | undefined {
  if (guard.kind === 'quiet') {
    const last = tenant.events.findLast((e) => e.session === guard.session)?.seq ?? 0
    return last > guard.after ? last : undefined
  }
  if (guard.kind === 'value') return tenant.nodes.has(hex(guard.ref)) ? undefined : 0
  if (guard.kind === 'blob') return isReadable(tenant.blobs.get(guard.digest)) ? undefined : 0
  const row = tableRows(tenant.rows, guard.table).get(guard.id)
  const [wanted, found] = guard.kind === 'row' ? [guard.revision, row?.revision ?? 0] : [guard.fence, row?.fence ?? 0]
  return found === wanted ? undefined : found
}

export function applyChange(rows: MemoryRows, change: Change, first: number, erase: (seqs: readonly number[]) => void): void {
  // The state is kept at the head, not in a row.
  if (change.kind === 'state') return
  if (change.kind === 'erase') {
    erase(change.seqs)
    return
  }
  const table = tableRows(rows, change.table)
  if (change.kind === 'remove') {
    table.delete(change.id)
    return
  }
  const before = table.get(change.id)
  const revision = change.event === undefined ? 0 : first + change.event
  const fence = tableOf(change.table).fenced && change.grants ? revision : before?.fence
  table.set(change.id, {
    id: change.id,
    born: before?.born ?? revision,
    revision,
    ...(fence !== undefined && { fence }),
    columns: change.columns,
    body: change.body,
  })
}

function erase(tenant: MemoryTenant, seqs: readonly number[]): void {
  for (const seq of seqs) {
    const event = tenant.events[seq - 1]
    assert(event, 'only events that exist are erased')
    tenant.events[seq - 1] = { ...event, payload: undefined, salt: undefined }
    tenant.references = tenant.references.filter((reference) => reference.seq !== seq)
  }
}

const receiptOf = (tenant: TenantId, e: EventRecord): Receipt => ({ id: e.id, seq: e.seq, hash: hex(e.hash), tenant })
