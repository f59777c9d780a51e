// The named queries of model/queries.ts, one text each.

import type { TenantId } from '../../model/ids.ts'
import type { Queries } from '../../model/queries.ts'
import type { Database } from './database.ts'
import { ifActive } from './heads.ts'
import { reading } from './transaction.ts'

const usage = `
  select type, count(*) as events, coalesce(sum(octet_length(payload)), 0) as bytes, count(*) - count(payload) as erased
  from events where tenant = ? group by type order by bytes desc, type`

// One seek a tenant: what has no time stands before the rest of its queue and is passed over. A state that none of ours wrote lets nobody in
// here either; whoever reads that tenant is told of the damage.
const dueTenants = `
  with found as materialized (
    select h.tenant, (
      select w.at from work as w indexed by work_by_due where w.tenant = h.tenant and w.queue = ? and w.at is not null order by w.at limit 1
    ) as at
    from heads as h where h.state = 'active'
  )
  select tenant, at from found where at is not null order by at, tenant limit ?`

export function queries(db: Database): Queries {
  return {
    usageByType: (tenant) =>
      reading(db, () =>
        ifActive(db, tenant as TenantId, () =>
          db.all(usage, tenant).map((row) => ({
            type: row.type as string,
            events: row.events as number,
            bytes: row.bytes as number,
            erased: row.erased as number,
          })),
        ),
      ),
    due: (queue, limit) =>
      reading(db, () => db.all(dueTenants, queue, limit).map((row) => ({ tenant: row.tenant as TenantId, at: row.at as number }))),
  }
}
