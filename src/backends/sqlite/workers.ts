// Workers in a table beside the journal. Those that serve every tenant are rows of the store itself.

import type { WorkerRow } from '../../model/worker.ts'
import type { Workers } from '../../ports/workers.ts'
import type { Database } from './database.ts'
import { reading } from './transaction.ts'

/** The store itself, for rows of no tenant. No tenant can have this name. */
const STORE = '*'

const renew = `
  insert into workers (tenant, id, version, queues, at, until) values (?, ?, ?, ?, ?, ?)
  on conflict (tenant, id) do update set at = excluded.at, until = excluded.until`
const drop = 'delete from workers where tenant = ? and until < ?'
const list = `select id, version, queues, at, until from workers where tenant in (?, '${STORE}') order by id`

export interface WorkerParts {
  readonly db: Database
  readonly now: () => number
  readonly write: <T>(work: () => T) => Promise<T>
}

export function workers({ db, now, write }: WorkerParts): Workers {
  return {
    renew: (tenant = STORE as never, renewed, ms, keepMs) =>
      write(() => {
        const at = now()
        for (const { id, version, queues } of renewed) db.run(renew, tenant, id, version, JSON.stringify(queues), at, at + ms)
        db.run(drop, tenant, at - keepMs)
      }),
    list: (tenant) => reading(db, () => ({ now: now(), workers: db.all(list, tenant).map(toWorker) })),
  }
}

const toWorker = (row: ReturnType<Database['all']>[number]): WorkerRow => ({
  id: row.id as string,
  version: row.version as string,
  queues: JSON.parse(row.queues as string) as readonly string[],
  at: row.at as number,
  until: row.until as number,
})
