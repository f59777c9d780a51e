// Workers in their own table, isolated per tenant like all tables. Those that serve every tenant are rows of the store itself, which no
// tenant can read in SQL: a list asks for them apart.

import { compareText } from '../../model/order.ts'
import type { WorkerRow } from '../../model/worker.ts'
import type { Workers } from '../../ports/workers.ts'
import { texts } from './arrays.ts'
import { unflushed } from './audit.ts'
import type { Cells } from './connections.ts'
import { type Database, enter } from './database.ts'
import { STORE } from './wall.ts'

// The clock is read once: twice would differ by a millisecond now and then.
const renew = `
  with clock as materialized (select inkfast.now_v1() as now)
  insert into inkfast.workers (tenant, id, version, queues, at, until)
  select $1, w.*, c.now, c.now + $5::bigint from unnest($2::text[], $3::text[], $4::text[]) w cross join clock c
  on conflict (tenant, id) do update set at = excluded.at, until = excluded.until`
const drop = 'delete from inkfast.workers where until < inkfast.now_v1() - $1::bigint'
const nowOf = 'select inkfast.now_v1()'
const list = 'select w.id, w.version, w.queues, w.at, w.until from inkfast.workers w order by w.id'

export function workers(db: Database): Workers {
  return {
    renew: async (tenant, renewed, ms, keepMs) => {
      db.checkWritable()
      const column = (of: (worker: (typeof renewed)[number]) => string) => texts(renewed.map(of))
      const values = [
        tenant ?? STORE,
        column(({ id }) => id),
        column(({ version }) => version),
        column(({ queues }) => JSON.stringify(queues)),
        ms,
      ]
      const steps = [
        enter(tenant === undefined ? db.wall.tenant(STORE) : db.wall.whatever(tenant)),
        unflushed,
        { text: renew, values, prepared: true },
        { text: drop, values: [keepMs], prepared: true },
      ]
      // Renewing twice is renewing once, so it is retried like a read.
      await db.run(steps, 'reading')
    },
    list: async (tenant) => {
      const rows = { text: list, prepared: true }
      const [[now, own = []], [every = []]] = await Promise.all([
        db.readWhatever(tenant, { text: nowOf, prepared: true }, rows),
        db.readSmall(STORE, rows),
      ])
      return { now: Number(now?.[0]?.[0]), workers: [...own, ...every].map(toWorker).sort((a, b) => compareText(a.id, b.id)) }
    },
  }
}

const toWorker = ([id, version, queues, at, until]: Cells): WorkerRow => ({
  id: id as string,
  version: version as string,
  queues: JSON.parse(queues as string) as readonly string[],
  at: Number(at),
  until: Number(until),
})
