// Refused writes and denied requests are in the audit, beside the journal, and the caller never waits for it.

import { describe, expect, test } from 'vitest'
import { memoryBackend } from '../src/backends/memory/backend.ts'
import { nodeEnvironment } from '../src/environment.ts'
import { limits, open, type Refusal, type Store } from '../src/index.ts'
import { codeOf, engines, expectSound, openIn, tempFile } from './support/engines.ts'

const refusalsOf = async (store: Store, last = 100): Promise<readonly Refusal[]> => {
  const found: Refusal[] = []
  for await (const refusal of store.audit.list({ last })) found.push(refusal)
  return found
}

describe.each(engines)('the audit ($name)', (engine) => {
  test('a write of a worker that lost its claim is in the audit, with its time, actor and item', async () => {
    const { store, now, pass } = await engine.openInTime()
    await store.queue('q').offer(1)
    const lost = await store.as('user_7').queue('q').claim({ lease: '10s' })
    await pass(60_000)
    const next = await store.queue('q').claim({ lease: '10s' })
    expect(next?.id).toBe(lost?.id)
    const head = await store.head()
    expect(await codeOf(lost?.complete() as Promise<unknown>)).toBe('FENCE_LOST')
    const [refusal, ...more] = await refusalsOf(store)
    expect(more).toEqual([])
    expect(refusal).toMatchObject({ code: 'FENCE_LOST', actor: 'user_7', noun: 'work', subject: lost?.id, count: 1 })
    expect(Math.abs((refusal?.at ?? 0) - (await now()))).toBeLessThan(30_000)
    expect(await store.head()).toEqual(head)
    await expectSound(store)
  })

  test('a write under a lease that its holder already knows to be lost is in the audit', async () => {
    const { store, pass } = await engine.openInTime()
    const session = await store.session('s')
    const lost = await session.lease({ ttl: '10s' })
    await pass(60_000)
    await using _next = await session.lease({ ttl: '10s' })
    expect(await codeOf(lost.renew())).toBe('FENCE_LOST')
    expect(await codeOf(session.append('note.made', {}, { under: lost }))).toBe('FENCE_LOST')
    expect(await refusalsOf(store)).toMatchObject([{ code: 'FENCE_LOST', noun: 'leases' }])
  })

  test('requests that are denied are in the audit of their tenant, newest first, whoever asks', async () => {
    const store = await engine.open()
    const acme = store.tenant('acme')
    const ada = acme.as('user_ada')
    const session = await ada.session('s', { owner: 'user_ada' })
    const { id } = await acme.approvals.request({ subject: 'pay', deciders: ['user_grace'] })
    const bob = acme.as('user_bob')
    const denied = [
      await codeOf(bob.session('s', { owner: 'user_bob' })),
      await codeOf(bob.approvals.decide(id, { decision: 'approve', by: 'user_bob' } as never)),
      await codeOf(bob.tenants()),
      await codeOf(bob.appendAll([{ type: 'run.finished', data: {} }])),
    ]
    await session.archive()
    denied.push(await codeOf((await bob.session('s')).append('note.made', 1)))
    const refusals = await refusalsOf(acme)
    expect(refusals.map(({ code }) => code)).toEqual(denied.toReversed())
    expect(denied).toEqual(['SESSION_OWNED', 'APPROVAL_FORBIDDEN', 'TENANT_WALL', 'TYPE_RESERVED', 'SESSION_ARCHIVED'])
    expect(refusals.toReversed()).toMatchObject([
      { noun: 'sessions', subject: session.id },
      { noun: 'approvals', subject: id },
      { noun: 'tenants()', subject: '' },
      { noun: 'events', subject: 'run' },
      { noun: 'sessions', subject: session.id },
    ])
    for (const { actor, count } of refusals) expect([actor, count]).toEqual(['user_bob', 1])
    expect(await refusalsOf(store)).toEqual([])
    expect(await refusalsOf(acme, 2)).toEqual(refusals.slice(0, 2))
    for (const last of [0, 1.5, limits.auditRows + 1]) expect(await codeOf(refusalsOf(acme, last))).toBe('OPTION_INVALID')
    await expectSound(store)
  })

  test('reads and writes of a closed tenant are in its audit, which stays readable', async () => {
    const store = await engine.open()
    const acme = store.tenant('acme')
    const session = await acme.as('user_7').session('s')
    await store.setTenantState('acme', 'suspended', { reason: 'unpaid' })
    expect(await codeOf(session.append('note.made', 1))).toBe('TENANT_CLOSED')
    expect(await codeOf(acme.sessions.get(session.id))).toBe('TENANT_CLOSED')
    const refusals = await refusalsOf(acme)
    expect(new Set(refusals.map(({ code }) => code))).toEqual(new Set(['TENANT_CLOSED']))
    expect(refusals).toContainEqual(expect.objectContaining({ noun: 'sessions', subject: session.id }))
    await store.setTenantState('acme', 'active', { reason: 'paid' })
    expect(await refusalsOf(acme)).toEqual(expect.arrayContaining([...refusals]))
  })

  test('reads of values in a closed tenant are in its audit, with the ref that was asked for', async () => {
    const store = await engine.open()
    const acme = store.tenant('acme')
    const ref = await acme.values.put({ plan: 'x'.repeat(500) })
    expect(await acme.values.field(ref, 'plan')).toHaveLength(500)
    await store.setTenantState('acme', 'suspended', { reason: 'unpaid' })
    expect(await codeOf(acme.values.get(ref))).toBe('TENANT_CLOSED')
    expect(await codeOf(acme.values.field(ref, 'plan'))).toBe('TENANT_CLOSED')
    expect(await refusalsOf(acme)).toMatchObject([
      { code: 'TENANT_CLOSED', noun: 'values', subject: ref },
      { code: 'TENANT_CLOSED', noun: 'values', subject: ref },
    ])
  })

  test('refusals above a hundred in a second are only counted', async () => {
    const store = await engine.open()
    const acme = store.tenant('acme')
    await acme.session('s')
    await Promise.all(Array.from({ length: 250 }, () => codeOf(acme.tenants())))
    const refusals = await refusalsOf(acme, 1000)
    expect(refusals.filter(({ count }) => count === 1)).toHaveLength(limits.auditPerSecond)
    expect(refusals.filter(({ count }) => count > 1)).toMatchObject([{ code: 'TENANT_WALL', actor: '', noun: '', subject: '', count: 150 }])
  })
})

test('refusals are written when a store closes, and by themselves for other nodes', async () => {
  const url = tempFile()
  {
    await using store = await open(url)
    const acme = store.tenant('acme')
    await acme.session('s')
    expect(await codeOf(acme.tenants())).toBe('TENANT_WALL')
  }
  const [first, second] = [await openIn(url), await openIn(url)]
  expect(await refusalsOf(second.tenant('acme'))).toHaveLength(1)
  expect(await codeOf(first.tenant('acme').tenants())).toBe('TENANT_WALL')
  await expect.poll(async () => (await refusalsOf(second.tenant('acme'))).length).toBe(2)
})

test('a refused caller gets its refusal also when the audit cannot be written, and a warning is logged', async () => {
  const sound = memoryBackend(nodeEnvironment)
  const audit = { ...sound.audit, add: () => Promise.reject(new Error('no audit today')) }
  const warnings: string[] = []
  const logger = { info: () => {}, warn: (message: string) => void warnings.push(message), error: () => {} }
  await using store = await open({ backend: { ...sound, audit }, logger })
  expect(await codeOf(store.tenant('acme').tenants())).toBe('TENANT_WALL')
  expect(await refusalsOf(store.tenant('acme'))).toEqual([])
  expect(warnings).toEqual(['refusals could not be recorded in the audit'])
})
