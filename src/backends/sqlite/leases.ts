// Until when leases are held, by the clock of the machine that all who open the file share.

import { checkActive } from '../../model/tenant.ts'
import type { Leases, LeaseTime } from '../../ports/leases.ts'
import type { Database } from './database.ts'
import { ifActive, readHead } from './heads.ts'
import { reading } from './transaction.ts'

const timeOf = `
  select l.fence, r.until from leases as l left join renewals as r on r.tenant = l.tenant and r.id = l.id and r.fence = l.fence
  where l.tenant = ? and l.id = ?`
const hold = `
  insert into renewals (tenant, id, fence, until) select tenant, id, fence, ? from leases where tenant = ? and id = ? and fence = ?
  on conflict (tenant, id) do update set fence = excluded.fence, until = excluded.until`

export interface LeaseParts {
  readonly db: Database
  readonly now: () => number
  readonly write: <T>(work: () => T) => Promise<T>
}

export function leases({ db, now, write }: LeaseParts): Leases {
  const times = (tenant: string, ids: readonly string[]): readonly LeaseTime[] =>
    ids.map((id) => {
      const row = db.get(timeOf, tenant, id)
      return { id, fence: (row?.fence as number | null | undefined) ?? 0, until: (row?.until as number | null | undefined) ?? 0 }
    })
  return {
    renew: async (tenant, held, ms) => {
      const ids = held.map(({ id }) => id)
      const { state, ...answer } = await write(() => {
        const at = now()
        const head = readHead(db, tenant)
        if (head.state === 'active') for (const { id, fence } of held) db.run(hold, at + ms, tenant, id, fence)
        return { state: head.state, now: at, leases: times(tenant, ids) }
      })
      checkActive(tenant, state)
      return answer
    },
    read: (tenant, ids) => reading(db, () => ifActive(db, tenant, () => ({ now: now(), leases: times(tenant, ids) }))),
  }
}
