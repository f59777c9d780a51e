// Four nodes, each a process of its own, write what they can: on one tenant and on four. And what one of them closes is closed on all.

import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { open, type TenantId } from '../../src/index.ts'
import { codeOf, expectSound, openIn, tempDatabase } from '../support/engines.ts'
import { programAt } from '../support/programs.ts'
import { rounds } from '../support/rounds.ts'
import { asSuperuser } from './logins.ts'
import { until } from './until.ts'

const NODES = 4
const EVENTS = rounds(400, 4000)

interface Told {
  readonly acked: readonly (readonly [n: number, seq: number, hash: string])[]
  readonly seen: readonly number[]
}

async function runNode(...args: readonly string[]): Promise<Told> {
  const child = spawn(process.execPath, [programAt(new URL('./writer.ts', import.meta.url)), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return JSON.parse(await text(child.stdout)) as Told
}

describe.each([1, 4])('four processes on %i of their tenants', (tenants) => {
  test('four processes lose nothing, leave no gap, and each sees every event of its tenant once, in order', async () => {
    const url = await tempDatabase()
    const perTenant = NODES / tenants
    const total = perTenant * (EVENTS + 1)
    const names = Array.from({ length: NODES }, (_, i) => ({ name: `node-${i}`, tenant: `tenant-${i % tenants}` }))
    const told = await Promise.all(
      names.map(async ({ name, tenant }) => ({ name, tenant, ...(await runNode(url, tenant, name, String(EVENTS), String(total))) })),
    )
    const store = await openIn(url)
    expect(await store.tenants()).toHaveLength(tenants)
    for (const tenant of await store.tenants()) {
      const own = told.filter((node) => node.tenant === tenant)
      const places = Array.from({ length: total }, (_, i) => i + 1)
      for (const { seen } of own) expect(seen).toEqual(places)
      const found = new Map<number, string>()
      for await (const { seq, data } of store.tenant(tenant).events({ types: ['task.done'] })) {
        const { name, n } = data as { name: string; n: number }
        found.set(seq, `${name} ${n}`)
      }
      const acked = new Map(own.flatMap(({ name, acked }) => acked.map(([n, seq]) => [seq, `${name} ${n}`])))
      expect(acked.size).toBe(perTenant * EVENTS)
      expect(new Map([...acked].sort(([a], [b]) => a - b))).toEqual(found)
      const receipts = own.flatMap(({ acked }) =>
        acked.map(([, seq, hash]) => ({ seq, hash, id: '' as never, tenant: tenant as TenantId })),
      )
      expect(await store.tenant(tenant).verify({ receipts })).toMatchObject({ intact: true })
    }
    await expectSound(store)
  })
})

test('a tenant that one node closes is closed on every other at once', async () => {
  const url = await tempDatabase()
  const [one, other] = [await openIn(url), await openIn(url)]
  const session = await other.tenant('acme').session('s')
  await session.append('task.done', {})
  const tail = other.tenant('acme').events({ live: true })
  for (let i = 0; i < 2; i++) await tail.next()
  const waiting = codeOf(tail.next())

  await one.setTenantState('acme', 'suspended', { reason: 'late with the rent' })
  const acme = other.tenant('acme')
  const tries = [
    session.append('task.done', {}),
    session.rename('title'),
    acme.session('another'),
    acme.sessions.list(),
    acme.sessions.find('s'),
    acme.page(),
    acme.types(),
    acme.usage(),
    acme.verify(),
    acme.rebuild({ check: true }),
  ]
  expect(await Promise.all(tries.map((attempt) => codeOf(attempt)))).toEqual(tries.map(() => 'TENANT_CLOSED'))
  expect(await waiting).toBe('TENANT_CLOSED')
  const fresh = await open(url)
  expect(await codeOf(fresh.tenant('acme').page())).toBe('TENANT_CLOSED')
  await fresh.close()

  await other.setTenantState('acme', 'active', { reason: 'paid' })
  expect((await one.tenant('acme').page()).items).toHaveLength(4)
  await session.append('task.done', {})
})

test('a tenant that is closed while a page is read, after its reader was let in, gives nothing out', async () => {
  const url = await tempDatabase()
  const acme = (await openIn(url)).tenant('acme')
  await acme.appendAll([{ type: 'task.done', data: {} }])
  const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await asSuperuser(url, async (superuser) => {
    await superuser.query('begin')
    await superuser.query('lock table inkfast.events in access exclusive mode')
    const reading = codeOf(acme.page())
    await until(
      'the reader was let in and waits for the events',
      async () => (await asSuperuser(url, (other) => other.query(waits))).rowCount === 1,
    )
    await superuser.query(`update inkfast.heads set state = 'suspended' where tenant = 'acme'`)
    await superuser.query('commit')
    expect(await reading).toBe('TENANT_CLOSED')
  })
})
