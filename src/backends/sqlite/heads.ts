// The head row of a tenant: the position of its journal, and its state.

import { GENESIS } from '../../model/chain.ts'
import { refuse } from '../../model/errors.ts'
import type { TenantId } from '../../model/ids.ts'
import { checkActive, isTenantState, type TenantState } from '../../model/tenant.ts'
import type { Head } from '../../ports/journal.ts'
import type { Database } from './database.ts'

const headOf = 'select seq, hash, state from heads where tenant = ?'
const stateOf = 'select state from heads where tenant = ?'
const moveHead = `
  insert into heads (tenant, seq, hash, state) values (?, ?, ?, ?)
  on conflict (tenant) do update set seq = excluded.seq, hash = excluded.hash, state = excluded.state`

export function readHead(db: Database, tenant: TenantId): Head {
  const row = db.get(headOf, tenant)
  if (!row) return { seq: 0, hash: GENESIS, state: 'active' }
  return { seq: row.seq as number, hash: row.hash as Uint8Array, state: knownState(db, tenant, row.state) }
}

export function writeHead(db: Database, tenant: TenantId, { seq, hash, state }: Head): void {
  db.run(moveHead, tenant, seq, hash, state)
}

/**
 * Returns what was read if the tenant is active. The state is read from the file each time, because another process may have closed the
 * tenant. It is read after the data: if the tenant is active then, nothing closed was read.
 */
export function ifActive<T>(db: Database, tenant: TenantId, read: () => T): T {
  const found = read()
  const row = db.get(stateOf, tenant)
  if (row) checkActive(tenant, knownState(db, tenant, row.state))
  return found
}

// An unknown state is damage, and the tenant is not served.
function knownState(db: Database, tenant: TenantId, state: unknown): TenantState {
  if (isTenantState(state)) return state
  throw refuse('FILE_CORRUPT', { path: db.path, reason: `the state of tenant ${tenant} is unknown` })
}
