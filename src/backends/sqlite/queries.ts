// The named queries of model/queries.ts, one text each.

import type { TenantId } from '../../model/ids.ts'
import type { Queries } from '../../model/queries.ts'
import type { Database } from './database.ts'
import { ifActive } from './heads.ts'
import { reading } from './transaction.ts'

const usage = `
  select type, count(*) as events, coalesce(sum(octet_length(payload)), 0) as bytes, count(*) - count(payload) as erased
  from events where tenant = ? group by type order by bytes desc, type`

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
  }
}
