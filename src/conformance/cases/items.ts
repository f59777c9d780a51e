// Work items for cases to put into queues, and the query for claimable ones.

import type { TenantId } from '../../model/ids.ts'
import type { Body } from '../../model/rows.ts'
import type { Backend } from '../../ports/backend.ts'
import { MAIN, type Maker, put } from '../material.ts'
import { save } from './expect.ts'

export const ALL = 100
export const AN_HOUR = 3_600_000

/** Due and free by default. */
export const item = (body: Body = {}): Body => ({ queue: 'q', state: 'ready', priority: 0, at: 50, ...body })

interface On {
  readonly backend: Backend
  readonly make: Maker
}

export interface OfferOptions {
  readonly tenant?: TenantId
  /** Grants the items to a holder, as a claim does. */
  readonly grants?: boolean
}

/** Offers items in one commit, each with its own event: the first is the oldest. Returns their fences, for claimed ones. */
export async function offer(
  { backend, make }: On,
  items: Readonly<Record<string, Body>>,
  { tenant = MAIN, grants = false }: OfferOptions = {},
): Promise<readonly number[]> {
  const entries = Object.entries(items)
  const changes = entries.map(([id, body], event) => put('work', id, item(body), { event, grants }))
  const receipts = await save(backend, make.commit(tenant, { events: entries.map(() => make.draft(tenant)), changes }))
  return receipts.map(({ seq }) => seq)
}

export const remove = ({ backend, make }: On, id: string): Promise<unknown> =>
  save(backend, make.commit(MAIN, { changes: [{ kind: 'remove', table: 'work', id }] }))

export interface Asked {
  readonly queue?: string
  readonly limit?: number
  readonly tenant?: TenantId
}

export const ready = async (backend: Backend, { queue = 'q', limit = ALL, tenant = MAIN }: Asked = {}): Promise<readonly string[]> =>
  (await backend.queries.ready(tenant, queue, limit)).rows.map(({ id }) => id)

export const timeOf = async (backend: Backend): Promise<number> => (await backend.leases.read(MAIN, [])).now
