// End times of leases, by the clock of the machine, which all processes with the file share.

import { checkActive } from '../../model/tenant.ts'
import type { HeldTable, Leases, LeaseTime } from '../../ports/leases.ts'
import type { Database } from './database.ts'
import { ifActive, readHead } from './heads.ts'
import { reading } from './transaction.ts'

const timeOf = (table: HeldTable) => `
  select l.fence, r.until from ${table} as l left join renewals as r on r.tenant = l.tenant and r.id = l.id and r.fence = l.fence
  where l.tenant = ? and l.id = ?`
const hold = (table: HeldTable) => `
  insert into renewals (tenant, id, fence, until) select tenant, id, fence, ? from ${table} where tenant = ? and id = ? and fence = ?
  on conflict (tenant, id) do update set fence = excluded.fence, until = excluded.until where renewals.fence <= excluded.fence`

const statements = {
  leases: { timeOf: timeOf('leases'), hold: hold('leases') },
  work: { timeOf: timeOf('work'), hold: hold('work') },
} as const satisfies Record<HeldTable, unknown>

export interface LeaseParts {
  readonly db: Database
  readonly now: () => number
  readonly write: <T>(work: () => T) => Promise<T>
}

export function leases({ db, now, write }: LeaseParts): Leases {
  const times = (tenant: string, ids: readonly string[], of: HeldTable): readonly LeaseTime[] =>
    ids.map((id) => {
      const row = db.get(statements[of].timeOf, tenant, id)
      return { id, fence: (row?.fence as number | null | undefined) ?? 0, until: (row?.until as number | null | undefined) ?? 0 }
    })
  return {
    renew: async (tenant, held, ms, of = 'leases') => {
      const ids = held.map(({ id }) => id)
      const { state, ...answer } = await write(() => {
        const at = now()
        const head = readHead(db, tenant)
        if (head.state === 'active') for (const { id, fence } of held) db.run(statements[of].hold, at + ms, tenant, id, fence)
        return { state: head.state, now: at, leases: times(tenant, ids, of) }
      })
      checkActive(tenant, state)
      return answer
    },
    read: (tenant, ids, of = 'leases') => reading(db, () => ifActive(db, tenant, () => ({ now: now(), leases: times(tenant, ids, of) }))),
  }
}
