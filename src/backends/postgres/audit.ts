// Refusals in their own table, isolated per tenant like all tables. Each call is one round trip.

import type { Refusal } from '../../model/refusal.ts'
import type { Audit } from '../../ports/audit.ts'
import { texts } from './arrays.ts'
import { type Database, enter } from './database.ts'

const add = `
  insert into inkfast.audit (tenant, id, at, code, actor, noun, subject, count)
  select $1, r.* from unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[]) r
  on conflict (tenant, id) do nothing`
const drop = `
  delete from inkfast.audit where id <= (select a.id from inkfast.audit a order by a.id desc limit 1 offset $1::integer)`
// A range in key order, which only the primary key offers.
export const newest = `
  select a.id, a.at, a.code, a.actor, a.noun, a.subject, a.count from inkfast.audit a
  where ($1::text is null or a.id < $1) order by a.id desc limit $2::integer`

// A lost tail of the audit is bearable; waiting for the disk is not.
export const unflushed = { text: `select pg_catalog.set_config('synchronous_commit', 'off', true)`, prepared: true }

const numbers = (given: readonly number[]): string => `{${given.join(',')}}`

export function audit(db: Database): Audit {
  return {
    add: async (tenant, refusals, keep) => {
      db.checkWritable()
      const column = (name: 'id' | 'code' | 'actor' | 'noun' | 'subject') => texts(refusals.map((one) => one[name]))
      const values = [
        tenant,
        column('id'),
        numbers(refusals.map(({ at }) => at)),
        column('code'),
        column('actor'),
        column('noun'),
        column('subject'),
        numbers(refusals.map(({ count }) => count)),
      ]
      const steps = [
        enter(db.wall.whatever(tenant)),
        unflushed,
        { text: add, values, prepared: true },
        { text: drop, values: [keep], prepared: true },
      ]
      // Adding the same rows again changes nothing, so it is retried like a read.
      await db.run(steps, 'reading')
    },
    list: async (tenant, { limit, before }) => {
      const [rows = []] = await db.readWhatever(tenant, { text: newest, values: [before ?? null, limit], prepared: true })
      return rows.map(([id, at, code, actor, noun, subject, count]) => ({
        id: id as string,
        at: Number(at),
        code: code as Refusal['code'],
        actor: actor as string,
        noun: noun as string,
        subject: subject as string,
        count: Number(count),
      }))
    },
  }
}
