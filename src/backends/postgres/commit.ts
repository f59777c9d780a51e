// The one write on PostgreSQL: a batch of one tenant is packed into arrays and sent as one function call. The function reports only
// exceptions per commit (an earlier send, a failed guard); all other commits were saved.

import { fromHex, hex, sameBytes } from '../../model/bytes.ts'
import { bodyDigest, receiptDigest } from '../../model/chain.ts'
import { assert } from '../../model/errors.ts'
import { damagedReceipt, type Receipt } from '../../model/event.ts'
import { readId, type TenantId } from '../../model/ids.ts'
import type { TenantState } from '../../model/tenant.ts'
import type { Commit, Guard, Outcome } from '../../ports/commit.ts'
import { commitCall, commitValues } from './commit-parameters.ts'
import type { Database, Opening } from './database.ts'
import { packBatch } from './pack.ts'
import { sha256 } from './sha256.ts'

export interface CommitSettings {
  readonly durable: boolean
  /** The longest time that a batch waits for the lock of the tenant's head. */
  readonly lockMs: number
}

export interface Applied {
  readonly outcomes: readonly Outcome[]
  /** The head before the batch. */
  readonly base: number
}

/** Id and link, in hex. */
type Ready = readonly (readonly [id: string, link: string])[] | null

/** The report about a commit that was not simply saved. */
type Odd = { readonly commit: number } & (
  | { readonly kind: 'tenant'; readonly state: TenantState }
  | {
      readonly kind: 'key'
      readonly seq: number
      readonly count: number
      readonly at: number
      readonly body: string
      readonly digest: string
      readonly salt: string | null
      readonly receipts: Ready
    }
  | { readonly kind: 'sent'; readonly seq: number; readonly receipts: Ready }
  | { readonly kind: 'guard'; readonly pair: number; readonly found: number }
)

// The function names the tenant and sets the rest itself. Its arguments are read before that.
const OPENING: Opening = { settings: [] }

/** Takes commits of one tenant, no two of which touch the same row, key or session. */
export async function applyBatch(db: Database, batch: readonly Commit[], settings: CommitSettings): Promise<Applied> {
  const tenant = batch[0]?.tenant
  assert(tenant !== undefined, 'a batch holds a commit')
  const packed = packBatch(batch, (state) => db.wall.state(tenant, state))
  const values = commitValues({ tenant: db.wall.whatever(tenant), ...settings, ...packed.given })
  const [rows] = await db.run([{ text: commitCall, values, tenant, prepared: true }], 'writing', OPENING)
  const [base, hashes, oddText, nowText] = rows?.[0] ?? []
  assert(base && oddText && nowText, 'the function answers with one row')
  const now = Number(nowText)
  const odd = new Map((JSON.parse(oddText) as readonly Odd[]).map((one) => [one.commit, one]))

  let seq = Number(base)
  const saved = batch.reduce((sum, commit, i) => sum + (odd.has(i + 1) ? 0 : commit.events.length), 0)
  // `\\x`, then sixty-four digits per link.
  assert((hashes ?? '\\x').length === 2 + 64 * saved, 'every event that was saved has its link')
  let at = 2
  const outcomes: Outcome[] = []
  for (const [i, commit] of batch.entries()) {
    const strange = odd.get(i + 1)
    if (strange) {
      outcomes.push(tellOdd(commit, strange, packed.pairs, now))
      continue
    }
    const receipts: Receipt[] = commit.events.map(({ id }) => {
      seq++
      at += 64
      return { id, seq, hash: (hashes as string).slice(at - 64, at), tenant }
    })
    outcomes.push({ ok: true, receipts, repeated: false, now })
  }
  return { outcomes, base: Number(base) }
}

function tellOdd(commit: Commit, odd: Odd, pairs: readonly Guard[], now: number): Outcome {
  switch (odd.kind) {
    case 'tenant':
      return { ok: false, refused: 'tenant', found: odd.state, now }
    case 'guard':
      return { ok: false, refused: pairs[odd.pair - 1] as Guard, found: odd.found, now }
    case 'sent':
      return { ok: true, receipts: earlierReceipts(commit.tenant, odd), repeated: true, now }
    case 'key': {
      assert(commit.key, 'only a commit with a key finds a receipt')
      const stored = { key: commit.key.digest, seq: odd.seq, count: odd.count, body: fromHex(odd.body), at: odd.at }
      if (hex(receiptDigest(sha256, commit.tenant, stored)) !== odd.digest)
        return { ok: false, refused: 'failed', found: damagedReceipt(odd.seq), now }
      // The comparison is made here, because the command itself is not sent to the server.
      const same = odd.salt !== null && sameBytes(bodyDigest(sha256, fromHex(odd.salt), commit.key.body), stored.body)
      if (!same) return { ok: false, refused: 'key', found: { seq: odd.seq, erased: odd.salt === null }, now }
      return { ok: true, receipts: earlierReceipts(commit.tenant, odd), repeated: true, now }
    }
  }
}

const earlierReceipts = (tenant: TenantId, { seq, receipts }: { readonly seq: number; readonly receipts: Ready }): readonly Receipt[] =>
  (receipts ?? []).map(([id, link], i) => ({ id: readId<'event'>(fromHex(id)), seq: seq + i, hash: link, tenant }))
