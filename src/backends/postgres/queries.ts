// The named queries of model/queries.ts, one text each.

import type { TenantId } from '../../model/ids.ts'
import type { Queries } from '../../model/queries.ts'
import type { Database } from './database.ts'
import { STORE } from './wall.ts'

const usage = `
  select type, count(*), coalesce(sum(octet_length(payload)), 0), count(*) - count(payload)
  from inkfast.events group by type order by 3 desc, 1`
const dueTenants = 'select tenant, at from inkfast.due_v1($1, $2::integer)'

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
    due: async (queue, limit) => {
      const [rows = []] = await db.read(STORE, { text: dueTenants, values: [queue, limit], prepared: true })
      return rows.map(([tenant, at]) => ({ tenant: tenant as TenantId, at: Number(at) }))
    },
  }
}
