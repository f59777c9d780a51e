// Tenants that are closed: refused everywhere at once, nothing of them out of memory, and whole again when they are resumed.

import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { codeOf, expectSound, layouts, openIn, tempFile } from '../../../test/support/engines.ts'
import { memoryBackend } from '../../backends/memory/backend.ts'
import { failAfter } from '../../conformance/faults.ts'
import { nodeEnvironment } from '../../environment.ts'
import { type Event, open, type Store } from '../../index.ts'
import { idMaker, MAIN, tenantId } from '../../model/ids.ts'
import { SessionMemory } from '../session/session-memory.ts'
import { ClosedTenants } from './closed-tenants.ts'

const newId = idMaker(Date.now, randomBytes)
const reason = 'the invoice was not paid'

const codeNow = (call: () => unknown): string => {
  try {
    call()
    return 'no error'
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}

async function written(store: Store, tenant: string) {
  const view = store.tenant(tenant)
  const session = await view.session('support/4711', { title: 'Order 4711' })
  const receipt = await session.append('plan.changed', { steps: 3 })
  await expect.poll(() => view.recent().length).toBe(2)
  return { view, session, receipt }
}

describe.each(layouts)('on $name', (engine) => {
  test('a store is looked after while its main tenant is closed', async () => {
    const store = await engine.open()
    await store.session('s')
    await store.setTenantState('main', 'suspended', { reason: 'a test' })
    expect(await store.maintain()).toMatchObject({ receiptsForgotten: 0 })
  })

  test.each(['suspended', 'deleted'] as const)('everything about a %s tenant is refused, and its neighbours go on', async (state) => {
    const store = await engine.open()
    const { view, session, receipt } = await written(store, 'acme')
    const other = await written(store, 'ACME')
    await store.setTenantState('acme', state, { reason })
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      append: () => session.append('plan.changed', { steps: 4 }),
      'append under a key': () => session.append('plan.changed', { steps: 4 }, { key: 'k' }),
      rename: () => session.rename('Order 4711, late'),
      describe: () => session.describe({}),
      archive: () => session.archive(),
      reopen: () => session.reopen(),
      delete: () => session.delete({ reason }),
      session: () => view.session('support/4711'),
      'a new session': () => view.session('support/4712'),
      list: () => view.sessions.list(),
      find: () => view.sessions.find('support/4711'),
      'find nothing': () => view.sessions.find('nothing'),
      get: () => view.sessions.get(session.id),
      appendAll: () => view.appendAll([{ type: 'a.b', data: 1 }]),
      events: () => view.events().next(),
      tail: () => view.events({ live: true, after: 99 }).next(),
      page: () => view.page(),
      erase: () => view.erase({ seq: receipt.seq, reason }),
      verify: () => view.verify(),
      rebuild: () => view.rebuild({ check: true }),
      types: () => view.types(),
      usage: () => view.usage(),
    }
    for (const [what, call] of Object.entries(calls)) {
      await expect(call(), what).rejects.toMatchObject({ code: 'TENANT_CLOSED', kind: 'denied', details: { tenant: 'acme', state } })
      expect(await codeOf(store.tenant('acme').page())).toBe('TENANT_CLOSED')
    }
    expect(codeNow(() => view.recent())).toBe('TENANT_CLOSED')
    expect((await view.head()).seq).toBe(3)
    expect(await store.tenants()).toEqual(['ACME', 'acme'])
    expect(await store.tenantState('acme')).toBe(state)
    expect(await store.tenantState('ACME')).toBe('active')
    await other.session.append('plan.changed', { steps: 4 })
    expect(other.view.recent()).toHaveLength(3)
  })

  test('a tenant that is resumed is whole again, and its journal says what happened', async () => {
    const store = await engine.open()
    const { view, session } = await written(store, 'acme')
    await store.setTenantState('acme', 'suspended', { reason })
    await store.as('user_ops').setTenantState('acme', 'active', { reason: 'it was paid' })
    expect(view.recent().at(-1)).toMatchObject({ type: 'tenant.resumed', data: { reason: 'it was paid' }, actor: 'user_ops' })
    await expect
      .poll(() => view.recent().map((e) => e.type))
      .toEqual(['session.opened', 'plan.changed', 'tenant.suspended', 'tenant.resumed'])
    expect((await session.append('plan.changed', { steps: 4 })).seq).toBe(5)
    await session.rename('Order 4711, paid')
    expect((await view.session('support/4711')).title).toBe('Order 4711, paid')
    const page = await view.page({ types: ['tenant.*'] })
    expect(page.items.map((e) => [e.type, e.data])).toEqual([
      ['tenant.suspended', { reason }],
      ['tenant.resumed', { reason: 'it was paid' }],
    ])
    await expectSound(store)
  })

  test('saying again what a tenant is writes nothing, however many say it', async () => {
    const store = await engine.open()
    const { view } = await written(store, 'acme')
    await store.setTenantState('acme', 'active', { reason })
    await Promise.all(Array.from({ length: 8 }, () => store.setTenantState('acme', 'suspended', { reason })))
    expect((await view.head()).seq).toBe(3)
    await store.setTenantState('acme', 'active', { reason })
    expect(await store.tenantState('never')).toBe('active')
    await store.setTenantState('never', 'active', { reason })
    expect(await store.tenants()).toEqual(['acme'])
  })

  test('deleted is final', async () => {
    const store = await engine.open()
    const { view } = await written(store, 'acme')
    await store.setTenantState('acme', 'suspended', { reason })
    await store.setTenantState('acme', 'deleted', { reason })
    await store.setTenantState('acme', 'deleted', { reason })
    for (const state of ['active', 'suspended'] as const) {
      await expect(store.setTenantState('acme', state, { reason })).rejects.toMatchObject({
        code: 'TENANT_CLOSED',
        details: { tenant: 'acme', state: 'deleted' },
      })
    }
    expect((await view.head()).seq).toBe(4)
  })

  test('a deletion of a tenant wins over a concurrent resume', async () => {
    const store = await engine.open()
    await written(store, 'acme')
    await store.setTenantState('acme', 'suspended', { reason })
    const settled = await Promise.allSettled([
      store.setTenantState('acme', 'active', { reason }),
      store.setTenantState('acme', 'deleted', { reason }),
      store.setTenantState('acme', 'active', { reason }),
    ])
    expect(settled.map((one) => one.status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(await store.tenantState('acme')).toBe('deleted')
  })

  test('a tail and a reader in the middle of a page end with TENANT_CLOSED, and nothing of the rest comes out', async () => {
    const store = await engine.open()
    const view = store.tenant('acme')
    await view.appendAll(Array.from({ length: 50 }, (_, n) => ({ type: 'a.b', data: n })))
    const live = view.events({ live: true, after: 50 })
    const waiting = codeOf(live.next())
    const seen: Event[] = []
    const reading = (async () => {
      for await (const event of view.events()) {
        seen.push(event)
        if (seen.length === 3) await store.setTenantState('acme', 'suspended', { reason })
      }
    })()
    expect(await codeOf(reading)).toBe('TENANT_CLOSED')
    expect(seen).toHaveLength(3)
    expect(await waiting).toBe('TENANT_CLOSED')
  })

  test('a reader of another tenant goes on where it was when its neighbour is closed', async () => {
    const store = await engine.open()
    await store.tenant('acme').appendAll([{ type: 'a.b', data: 0 }])
    await store.appendAll(Array.from({ length: 20 }, (_, n) => ({ type: 'a.b', data: n })))
    for (const backwards of [false, true]) {
      const seen: number[] = []
      for await (const event of store.events({ backwards, limit: 18 })) {
        seen.push(event.seq)
        if (seen.length === 5) await store.setTenantState('acme', backwards ? 'active' : 'suspended', { reason })
      }
      const upwards = Array.from({ length: 18 }, (_, i) => i + 1)
      expect(seen).toEqual(backwards ? upwards.map((n) => 21 - n) : upwards)
    }
  })

  test('the main tenant can be closed and brought back like any other', async () => {
    const store = await engine.open()
    await store.session('s')
    await store.setTenantState('main', 'suspended', { reason })
    expect(await codeOf(store.session('s'))).toBe('TENANT_CLOSED')
    expect(codeNow(() => store.recent())).toBe('TENANT_CLOSED')
    await store.setTenantState('main', 'active', { reason })
    await store.session('s')
    expect(store.recent().length).toBeGreaterThan(0)
    await expectSound(store)
  })

  test('a view of a tenant can neither ask for a state nor set one', async () => {
    const store = await engine.open()
    const view = store.tenant('acme')
    expect(await codeOf(view.tenantState('acme'))).toBe('TENANT_WALL')
    expect(await codeOf(view.as('user_1').setTenantState('acme', 'suspended', { reason }))).toBe('TENANT_WALL')
    expect(await store.tenants()).toEqual([])
  })

  test('an invalid state, reason or tenant is refused, and tenant event types cannot be appended', async () => {
    const store = await engine.open()
    const state = 'closed' as never
    expect(await codeOf(store.setTenantState('acme', state, { reason }))).toBe('OPTION_INVALID')
    expect(await codeOf(store.setTenantState('acme', 'suspended', { reason: '' }))).toBe('OPTION_INVALID')
    expect(await codeOf(store.setTenantState('acme', 'suspended', { reason: 'x'.repeat(1025) }))).toBe('OPTION_INVALID')
    expect(await codeOf(store.setTenantState('acme', 'suspended', undefined as never))).toBe('OPTION_INVALID')
    expect(await codeOf(store.setTenantState('a/b', 'suspended', { reason }))).toBe('TENANT_INVALID')
    expect(await codeOf(store.tenantState('a/b'))).toBe('TENANT_INVALID')
    for (const type of ['tenant.suspended', 'tenant.resumed', 'tenant.deleted'])
      expect(await codeOf(store.appendAll([{ type, data: { reason } }]))).toBe('TYPE_RESERVED')
    expect(await store.tenants()).toEqual([])
  })

  test('a secret in a reason is masked like any other', async () => {
    const store = await engine.open()
    const secret = `ghp_${'a1B2'.repeat(9)}`
    await store.setTenantState('acme', 'suspended', { reason: `they posted ${secret}` })
    await store.setTenantState('acme', 'active', { reason })
    const [first] = (await store.tenant('acme').page()).items
    expect(JSON.stringify(first?.data)).not.toContain(secret)
    expect(JSON.stringify(first?.data)).toContain('they posted')
  })
})

test('another process that has read and written before is refused with its next call, and forgets what it held', async () => {
  const path = tempFile()
  const one = await openIn(path)
  const two = await openIn(path)
  const { view, session } = await written(two, 'acme')
  const live = view.events({ live: true, after: 2 })
  const waiting = codeOf(live.next())
  await one.setTenantState('acme', 'suspended', { reason })
  expect(await codeOf(session.append('a.b', 1))).toBe('TENANT_CLOSED')
  expect(await codeOf(view.page())).toBe('TENANT_CLOSED')
  expect(await waiting).toBe('TENANT_CLOSED')
  await expect.poll(() => codeNow(() => view.recent())).toBe('TENANT_CLOSED')
  await one.setTenantState('acme', 'active', { reason })
  expect((await session.append('a.b', 1)).seq).toBe(5)
  await expect.poll(() => codeNow(() => view.recent())).toBe('no error')
  await expect.poll(() => view.recent().map((e) => e.seq)).toEqual([1, 2, 3, 4, 5])
  await expectSound(one)
})

test('a store whose main tenant is closed opens, and can bring it back', async () => {
  const path = tempFile()
  const first = await open(path)
  await first.session('s')
  await first.setTenantState('main', 'suspended', { reason })
  await first.close()
  const again = await openIn(path)
  expect(codeNow(() => again.recent())).toBe('TENANT_CLOSED')
  await again.setTenantState('main', 'active', { reason })
  expect((await again.session('s')).status).toBe('open')
  await expectSound(again)
})

test('a state that somebody wrote on the head by hand is told by verify, and a word that is none is damage', async () => {
  const { DatabaseSync } = await import('node:sqlite')
  const path = tempFile()
  const store = await openIn(path)
  await written(store, 'acme')
  await store.setTenantState('acme', 'suspended', { reason })
  const set = (state: string) => {
    const db = new DatabaseSync(path)
    db.prepare('update heads set state = ? where tenant = ?').run(state, 'acme')
    db.close()
  }
  set('active')
  expect(await store.tenant('acme').verify()).toMatchObject({
    intact: false,
    brokenAt: 3,
    reason: 'the head says that the tenant is active, the journal says suspended',
  })
  set('open')
  expect(await codeOf(store.tenant('acme').page())).toBe('FILE_CORRUPT')
  expect(await codeOf(store.tenant('acme').appendAll([{ type: 'a.b', data: 1 }]))).toBe('BACKEND_FAILED')
})

test('remembered sessions of a closed tenant are forgotten, and those of others are not', () => {
  const memory = new SessionMemory()
  const [mine, theirs] = [newId<'session'>(), newId<'session'>()]
  memory.set(MAIN, mine, { revision: 1, state: 'open' })
  memory.set(tenantId('acme'), theirs, { revision: 2, state: 'open' })
  const closings = new ClosedTenants(memory)
  closings.heard(tenantId('acme'))
  expect(memory.get(tenantId('acme'), theirs)).toBeUndefined()
  expect(memory.get(MAIN, mine)).toMatchObject({ revision: 1 })
  expect(closings.count).toBe(1)
})

describe('when a reply is lost', () => {
  const losing = async (call: number): Promise<Store> => {
    const store = await open({ backend: failAfter(memoryBackend(nodeEnvironment), (n) => n === call) })
    await store.session('s')
    return store
  }

  test.each(['suspended', 'deleted'] as const)('a tenant is %s once', async (state) => {
    await using store = await losing(2)
    await store.setTenantState('main', state, { reason })
    expect(await store.head()).toMatchObject({ seq: 2 })
    expect(await store.tenantState('main')).toBe(state)
    expect(codeNow(() => store.recent())).toBe('TENANT_CLOSED')
  })

  test('an append that was saved before its tenant was closed is not said to be refused', async () => {
    const real = memoryBackend(nodeEnvironment)
    const operator = await open({ backend: real })
    const session = await operator.session('s')
    let calls = 0
    await using store = await open({
      backend: {
        ...real,
        commit: async (batch) => {
          const outcomes = await real.commit(batch)
          if (++calls > 1) return outcomes
          await operator.setTenantState('main', 'suspended', { reason })
          throw new Error('the connection broke before the reply came')
        },
      },
    })
    const append = store.appendAll([{ session: session.id, type: 'a.b', data: 1 }])
    await expect(append).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN', details: { ids: [expect.any(String)] } })
    expect(calls).toBe(2)
    expect((await operator.head()).seq).toBe(3)
    expect(await codeOf(store.appendAll([{ type: 'a.b', data: 2 }]))).toBe('TENANT_CLOSED')
  })
})
