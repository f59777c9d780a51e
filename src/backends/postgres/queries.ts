// The named queries of model/queries.ts, one text each.

import type { TenantId } from '../../model/ids.ts'
import type { Queries } from '../../model/queries.ts'
import type { Database } from './database.ts'

const usage = `
  select type, count(*), coalesce(sum(octet_length(payload)), 0), count(*) - count(payload)
  from inkfast.events group by type order by 3 desc, 1`

export function queries(db: Database): Queries {
  return {
    usageByType: async (tenant) => {
      const [rows = []] = await db.read(tenant as TenantId, { text: usage })
      return rows.map(([type, events, bytes, erased]) => ({
        type: type as string,
        events: Number(events),
        bytes: Number(bytes),
        erased: Number(erased),
      }))
    },
  }
}
