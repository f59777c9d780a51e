// Reads the stored receipts of keyed commits.

import type { TenantId } from '../../model/ids.ts'
import type { StoredReceipt } from '../../ports/upkeep.ts'
import type { Database } from './database.ts'

const scan = 'select key, seq, count, body, at, digest from receipts where tenant = ? and key > ? order by key limit ?'

export const readReceipts = (db: Database, tenant: TenantId, after: Uint8Array | undefined, limit: number): readonly StoredReceipt[] =>
  db.all(scan, tenant, after ?? new Uint8Array(0), limit).map(toReceipt)

export const toReceipt = (row: Readonly<Record<string, unknown>>): StoredReceipt => ({
  key: row.key as Uint8Array,
  seq: row.seq as number,
  count: row.count as number,
  body: row.body as Uint8Array,
  at: row.at as number,
  digest: row.digest as Uint8Array,
})
