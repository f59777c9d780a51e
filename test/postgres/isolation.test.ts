// Nobody sees, counts, changes or learns of what is another tenant's: tried out on everything the catalogue of a real server knows of us.
// Then the wall is damaged in one place after the other, and each time the tests say so, and so does opening where it can see it.

import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { keyOf, maker, put } from '../../src/conformance/material.ts'
import { open } from '../../src/index.ts'
import { leave, preparedDatabase } from '../support/databases.ts'
import { codeOf, later } from '../support/engines.ts'
import { rounds } from '../support/rounds.ts'
import { callFunctions } from './calls.ts'
import { asSuperuser, makeLogin } from './logins.ts'
import { DENIED, runMatrix } from './matrix.ts'
import { checkRights, walledTables } from './rights.ts'
import { ACME, MARK, plantTenants, RIVAL } from './tenants.ts'

/** Events may be inserted anywhere here: the wall is tried alone, without the guard of their places. */
const plant = async (url: string): Promise<void> => {
  await plantTenants(url)
  await asSuperuser(url, (superuser) => superuser.query('alter table inkfast.events disable trigger events_by_commit'))
}

const planted = () => prepared(plant)
const plantedAndGuarded = () => prepared(plantTenants)

async function prepared(prepare: (url: string) => Promise<void>): Promise<string> {
  const database = await preparedDatabase(prepare)
  later(() => leave(database))
  return database.url
}

const loginsFor = (url: string) =>
  Promise.all(['inkfast_app', 'inkfast_reader'].map(async (role) => ({ role, url: (await makeLogin(url, { roles: [role] })).url })))

describe('the wall between tenants', () => {
  test('the wall between tenants consists of what is known, with the rights it was meant to have', async () => {
    expect(await asSuperuser(await planted(), checkRights)).toEqual([])
  })

  test('the wall between tenants stands whatever is tried on any table', async () => {
    const url = await planted()
    const { told, tries } = await runMatrix({ url, logins: await loginsFor(url) })
    expect(told).toEqual([])
    expect(tries).toBeGreaterThan(rounds(1250, 5000))
  })

  test('the wall between tenants stands whatever function is called', async () => {
    const url = await planted()
    const { told, tries } = await callFunctions({ url, logins: await loginsFor(url) })
    expect(told).toEqual([])
    expect(tries).toBeGreaterThan(300)
  })

  test('the wall between tenants has no statistics that EXPLAIN could tell from', async () => {
    const url = await planted()
    const kept = `select tablename from pg_stats where schemaname = 'inkfast' and tablename = any ($1)`
    const [app] = await loginsFor(url)
    // What the planner expects must not depend on what is in other tenants' rows.
    const expected = (client: Client) => async (bound: string) => {
      const { rows } = await client.query(`explain (format json) select from inkfast.events where payload < '${bound}'`)
      return JSON.stringify(rows)
        .match(/"Plan Rows":\d+/g)
        ?.join()
    }
    const differs = () =>
      asSuperuser(app?.url ?? '', async (client) => {
        const look = expected(client)
        return new Set([await look('!'), await look('"m'), await look('"z'), await look('~')]).size > 1
      })
    const fill = `insert into inkfast.events (tenant, seq, id, at, type, schema, class, actor, payload, digest, hash)
      select 'acme', 1000 + n, '', 0, 'note.made', 1, 0, '', '"secret"', '', '' from generate_series(1, 20000) n`
    await asSuperuser(url, async (superuser) => {
      await superuser.query(fill)
      await superuser.query('analyze')
      expect((await superuser.query(kept, [walledTables])).rows).toEqual([])
    })
    expect(await differs()).toBe(false)
    // The control: with statistics kept, the same questions have different answers.
    await asSuperuser(url, async (superuser) => {
      await superuser.query('alter table inkfast.events alter column payload set statistics 100')
      await superuser.query('analyze inkfast.events')
      expect((await superuser.query(kept, [walledTables])).rowCount).toBeGreaterThan(0)
    })
    expect(await differs()).toBe(true)
  })

  test('the wall between tenants lets whoever listens hear that something happened, and not to whom', async () => {
    const url = await plantedAndGuarded()
    const [app] = await loginsFor(url)
    const listener = new Client(app?.url)
    await listener.connect()
    const heard = new Promise<string>((resolve) =>
      listener.on('notification', ({ payload = '' }) => {
        // A store tells itself first, to know that it hears.
        if (!payload.startsWith('echo-')) resolve(payload)
      }),
    )
    await listener.query('listen inkfast')
    const store = await open(url)
    await (await store.tenant(ACME).session('s')).append('note.made', {})
    expect(await heard).toMatch(/^[0-9a-f]{32}-[0-9a-f]{16}$/)
    await store.close()
    await listener.end()
  })

  test('the wall between tenants answers a tenant that asks with ids, keys and places of another as if there were no other', async () => {
    const url = await plantedAndGuarded()
    const backend = await postgresBackend({ url })
    later(() => backend.close())
    const { events } = await backend.journal.page(ACME, { from: 0, limit: 100 })
    const [first] = events
    const session = events.find((event) => event.session)?.session
    if (!first || !session) throw new Error('acme has no events')
    const make = maker(7)
    const draft = { ...make.draft(RIVAL), id: first.id }
    const [outcome] = await backend.commit([
      make.commit(RIVAL, {
        events: [draft],
        key: keyOf(ACME, MARK),
        since: 0,
        guards: [
          { kind: 'row', table: 'sessions', id: `sessions-${MARK}`, revision: 0 },
          { kind: 'quiet', session, after: 0 },
        ],
        changes: [put('leases', `leases-${MARK}`)],
      }),
    ])
    expect(outcome).toMatchObject({ ok: true, repeated: false, receipts: [{ id: first.id, tenant: RIVAL }] })
    const { seq } = await backend.journal.head(RIVAL)
    const beyond = make.commit(RIVAL, { changes: [{ kind: 'erase', seqs: [seq + 100] }] })
    expect(await backend.commit([beyond])).toMatchObject([{ ok: false, refused: 'failed' }])
    expect((await backend.journal.page(ACME, { from: 0, limit: 100 })).events).toEqual(events)
  })
})

test('due times are read by the store itself, and the function reveals nothing more', async () => {
  const url = await plantedAndGuarded()
  const backend = await postgresBackend({ url })
  later(() => backend.close())
  const make = maker(8)
  await backend.commit([make.commit(ACME, { changes: [put('work', 'w', { queue: MARK, at: 7 })] })])
  expect(await backend.queries.due(MARK, 10)).toEqual([{ tenant: ACME, at: 7 }])
  const asWall = (sql: string) =>
    asSuperuser(url, async (superuser) => {
      await superuser.query('set role inkfast_wall')
      return codeOf(superuser.query(sql))
    })
  expect(await asWall('select tenant, queue, at from inkfast.work')).toBe('no error')
  for (const column of ['*', 'body', 'id', 'state', 'fence']) expect(await asWall(`select ${column} from inkfast.work`)).toBe(DENIED)
})

interface Damage {
  readonly what: string
  readonly sql: string
  readonly rights: RegExp
  /** What the matrix says when it looks at this relation alone. */
  readonly tried?: readonly [relation: string, said: RegExp]
  readonly called?: RegExp
  /** Where start-up sees it too. */
  readonly refused?: RegExp
}

const damages: readonly Damage[] = [
  {
    what: 'row-level security is switched off',
    sql: 'alter table inkfast.sessions disable row level security',
    rights: /not forced on sessions/,
    tried: ['sessions', /select on sessions as another tenant got/],
    refused: /not forced on sessions/,
  },
  {
    what: 'row-level security is not forced',
    sql: 'alter table inkfast.events no force row level security',
    rights: /not forced on events/,
    refused: /not forced on events/,
  },
  {
    what: 'a policy lets everybody read',
    sql: 'create policy leak on inkfast.leases for select to inkfast_app using (true)',
    rights: /policy not known: leases: leak/,
    tried: ['leases', /count on leases as nobody, never named counted/],
    refused: /the policy leak on leases does not check the tenant/,
  },
  {
    what: 'a policy lets everybody read blobs',
    sql: 'create policy leak on inkfast.blobs for select to inkfast_app using (true)',
    rights: /policy not known: blobs: leak/,
    tried: ['blobs', /select on blobs as another tenant got/],
    refused: /the policy leak on blobs does not check the tenant/,
  },
  {
    what: 'nodes may be changed',
    sql: 'grant update on inkfast.nodes to inkfast_app',
    rights: /grant not known: inkfast_app update on nodes/,
  },
  {
    what: 'a policy lets everybody write',
    sql: 'create policy leak on inkfast.names for insert to inkfast_app with check (true)',
    rights: /policy not known: names: leak/,
    tried: ['names', /insert of a row that is free on names as a forged name .* was not denied/],
  },
  {
    what: 'a policy lets everybody name tenants',
    sql: 'create policy leak on inkfast.heads for select to public using (true)',
    rights: /policy not known: heads: leak/,
    tried: ['heads', /select on heads as a forged name/],
    refused: /the policy leak on heads does not check the tenant/,
  },
  {
    what: 'there is a table that nobody knows',
    sql: 'create table inkfast.extra (tenant text, note text)',
    rights: /relation extra \(r\) is not known/,
    refused: /not forced on extra/,
  },
  {
    what: 'there is a view that looks past the wall',
    sql: 'create view inkfast.peek as select * from inkfast.events; grant select on inkfast.peek to inkfast_app',
    rights: /relation peek \(v\) is not known/,
    tried: ['peek', /select on peek as another tenant got/],
  },
  {
    what: 'there is a sequence',
    sql: 'create sequence inkfast.counter',
    rights: /relation counter \(S\) is not known/,
  },
  {
    what: 'there is a function that looks past the wall',
    sql: `create function inkfast.peek() returns setof text language sql security definer as 'select tenant || payload from inkfast.events'`,
    rights: /function peek is not known.*may be executed by everybody.*too powerful.*no reason.*without a fixed search_path/,
    called: /peek\(.*\) showed/,
  },
  {
    what: 'whoever asks is told whose work is due',
    sql: `create or replace function inkfast.due_v1(p_queue text, p_at bigint, p_tenant text, p_limit integer)
      returns table (tenant text, at bigint, next bigint)
      language sql stable security definer set search_path = pg_catalog, pg_temp
      as 'select d.tenant, d.at, d.at from inkfast.due d where d.queue = p_queue limit p_limit'`,
    // Its rights are what they were: only a call tells.
    rights: /^$/,
    called: /as acme itself: due_v1\(.*\) told acme what is the store's alone/,
  },
  {
    what: 'the role that looks for what is due may read more than that',
    sql: 'grant select (body) on inkfast.work to inkfast_wall',
    rights: /grant not known: inkfast_wall select on work\.body/,
  },
  {
    what: 'the function that checks names takes any search_path',
    sql: 'alter function inkfast.tenant() reset search_path',
    rights: /function tenant is a definer without a fixed search_path/,
  },
  {
    what: 'events may be deleted and emptied',
    sql: 'grant delete, truncate on inkfast.events to inkfast_app',
    rights: /grant not known: inkfast_app delete on events.*inkfast_app truncate on events/,
    tried: ['events', /truncate on events as another tenant failed in a way that tells/],
  },
  {
    what: 'events may be referred to',
    sql: 'grant references on inkfast.events to inkfast_app',
    rights: /grant not known: inkfast_app references on events/,
    tried: ['events', /a foreign key on events as nobody, never named was not denied/],
  },
  {
    what: 'the key of the wall may be read',
    sql: `grant select on inkfast.wall_keys to inkfast_app; create policy leak on inkfast.wall_keys for select to inkfast_app using (true)`,
    rights: /policy not known: wall_keys: leak.*grant not known: inkfast_app select on wall_keys/,
    tried: ['wall_keys', /select on wall_keys as another tenant got/],
  },
]

describe('a wall that is damaged is told', () => {
  test.each(damages)('a damaged wall is reported when $what', async ({ sql, rights, tried, called, refused }) => {
    const url = await planted()
    await asSuperuser(url, (superuser) => superuser.query(sql))
    expect((await asSuperuser(url, checkRights)).join('; ')).toMatch(rights)
    const logins = await loginsFor(url)
    if (tried) expect((await runMatrix({ url, logins, only: [tried[0]] })).told.join('\n')).toMatch(tried[1])
    if (called) expect((await callFunctions({ url, logins })).told.join('\n')).toMatch(called)
    if (!refused) return
    const failed = open(url).then((store) => store.close())
    expect(await codeOf(failed)).toBe('WALL_OPEN')
    await expect(failed).rejects.toThrow(refused)
  })
})
