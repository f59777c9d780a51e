// Tenants that have something to do, and tenants that will have: only those cost a look that are due.

import { InkError } from '../../model/errors.ts'
import type { DueTenant } from '../../model/queries.ts'
import type { Engine } from '../scope.ts'

/** Of a store with many tenants: what the first of them says that can be asked. One that was closed just now, or whose file is damaged, keeps no other waiting. */
async function nowOfAny({ backend, lane }: Engine, due: readonly DueTenant[]): Promise<number> {
  for (const { tenant } of due) {
    try {
      return (await backend.leases.read(tenant, [])).now
    } catch (error) {
      if (!(error instanceof InkError) || !(error.code === 'TENANT_CLOSED' || error.kind === 'corrupt')) throw error
    }
  }
  return lane.storeTime()
}

/** What is due, and what will be. */
export async function splitByTime(
  engine: Engine,
  due: readonly DueTenant[],
): Promise<{
  readonly ready: readonly DueTenant[]
  readonly later: readonly DueTenant[]
  readonly now: number
  readonly wait: number | undefined
}> {
  const now = await nowOfAny(engine, due)
  const { ready = [], later = [] } = Object.groupBy(due, ({ at }) => (at <= now ? 'ready' : 'later'))
  return { ready, later, now, wait: later[0] && later[0].at - now }
}
