// Refusals in a table beside the journal.

import type { Refusal } from '../../model/refusal.ts'
import type { Audit } from '../../ports/audit.ts'
import type { Database } from './database.ts'
import { reading } from './transaction.ts'

const add = `
  insert into audit (tenant, id, at, code, actor, noun, subject, count) values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (tenant, id) do nothing`
const drop = `
  delete from audit where tenant = ?1 and id <= (select id from audit where tenant = ?1 order by id desc limit 1 offset ?2)`
const COLUMNS = 'id, at, code, actor, noun, subject, count'
const newest = `select ${COLUMNS} from audit where tenant = ? order by id desc limit ?`
const newestBefore = `select ${COLUMNS} from audit where tenant = ? and id < ? order by id desc limit ?`

export interface AuditParts {
  readonly db: Database
  readonly write: <T>(work: () => T) => Promise<T>
}

export function audit({ db, write }: AuditParts): Audit {
  return {
    add: (tenant, refusals, keep) =>
      write(() => {
        for (const { id, at, code, actor, noun, subject, count } of refusals) db.run(add, tenant, id, at, code, actor, noun, subject, count)
        db.run(drop, tenant, keep)
      }),
    list: (tenant, { limit, before }) =>
      reading(db, () => {
        const rows = before === undefined ? db.all(newest, tenant, limit) : db.all(newestBefore, tenant, before, limit)
        return rows.map(toRefusal)
      }),
  }
}

const toRefusal = (row: ReturnType<Database['all']>[number]): Refusal => ({
  id: row.id as string,
  at: row.at as number,
  code: row.code as Refusal['code'],
  actor: row.actor as string,
  noun: row.noun as string,
  subject: row.subject as string,
  count: row.count as number,
})
