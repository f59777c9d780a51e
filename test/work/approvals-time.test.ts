// Permits and expiry: an answer for more than once, until its time or until it is revoked; and who is first when the time is over.

import { describe, expect, test } from 'vitest'
import type { ApprovalRow, Store, StoreOptions } from '../../src/index.ts'
import { limits } from '../../src/model/limits.ts'
import { codeOf, engines, expectSound, lentDatabase, moveTime, openIn, tempFile } from '../support/engines.ts'

const deploy = { subjectType: 'tool', subject: 'deploy', data: { to: 'staging' } } as const
const HOUR = 3_600_000

/** Two handles on one store, as two nodes have them, and one time for both. */
async function pair(name: string, options: Partial<StoreOptions> = {}) {
  if (name === 'postgres') {
    const url = await lentDatabase()
    return { stores: [await openIn(url, options), await openIn(url, options)], pass: (ms: number) => moveTime(url, ms) } as const
  }
  const url = tempFile()
  let now = Date.now()
  const clock = { now: () => now }
  const pass = async (ms: number) => {
    now += ms
  }
  return { stores: [await openIn(url, { ...options, clock }), await openIn(url, { ...options, clock })], pass } as const
}

const stateOf = async (store: Store, id: string) => (await store.approvals.get(id))?.state

describe.each(engines)('permits on $name', (engine) => {
  test('a permit for a session approves the same there at once, recorded with the permit, until that is revoked', async () => {
    const store = await engine.open()
    const session = await store.session('support/4711')
    await store.session('support/4712')
    const first = await store.approvals.request({ ...deploy, session: 'support/4711' })
    const decided = await store.approvals.decide(first.id, { decision: 'approve', by: 'user/grace', note: 'fine', scope: 'session' })
    const [permit] = (await store.approvals.permits.list()).items
    expect(permit).toMatchObject({
      state: 'active',
      decision: 'approve',
      session: session.id,
      by: 'user/grace',
      approval: first.id,
      subject: 'deploy',
    })
    expect(decided.grants).toBe(permit?.id)
    const later = await store.approvals.request({ ...deploy, session: 'support/4711', within: '1h' })
    expect(later).toMatchObject({ state: 'approved', permit: permit?.id, decidedBy: 'user/grace', decidedAt: expect.any(Number) })
    expect(await store.approvals.wait(later.id)).toEqual(later)
    for (const other of [{}, { session: 'support/4712' }, { session: 'support/4711', data: { to: 'production' } }])
      expect(await store.approvals.request({ ...deploy, ...other })).toMatchObject({ state: 'pending' })
    await using run = await session.run('ship')
    await run.approval('deploy', { to: 'staging' }, { subjectType: 'tool', within: '2d' })
    expect((await store.approvals.list({ run: run.id })).items).toMatchObject([{ state: 'approved', permit: permit?.id }])
    await run.finish()

    expect(await store.approvals.permits.list({ session: session.id, state: 'active' })).toMatchObject({ items: [permit] })
    expect(await store.approvals.permits.list({ digest: first.digest as string })).toMatchObject({ items: [permit] })
    expect(await store.approvals.permits.list({ state: 'revoked' })).toEqual({ items: [] })
    const revoked = await store.approvals.permits.revoke(permit?.id ?? '', { by: 'user/ada', reason: 'the release is out' })
    expect(revoked).toMatchObject({ state: 'revoked', revokedBy: 'user/ada', reason: 'the release is out' })
    expect(await store.approvals.permits.revoke(permit?.id ?? '')).toEqual(revoked)
    expect(await store.approvals.permits.list({ digest: first.digest as string, state: 'active' })).toEqual({ items: [] })
    expect(await store.approvals.request({ ...deploy, session: 'support/4711' })).toMatchObject({ state: 'pending' })
    await expectSound(store)
  })

  test('a permit for a time counts everywhere, by the clock of the store, also a no; the newest counts', async () => {
    const { store, pass } = await engine.openInTime()
    await store.session('support/4711')
    const first = await store.approvals.request(deploy)
    await store.approvals.decide(first.id, { decision: 'deny', by: 'user/grace', scope: { for: '1h' } })
    expect(await store.approvals.request({ ...deploy, session: 'support/4711' })).toMatchObject({
      state: 'denied',
      decidedBy: 'user/grace',
    })
    const session = await store.session('support/4712')
    await using run = await session.run('ship')
    expect(await codeOf(run.approval('deploy', { to: 'staging' }, { subjectType: 'tool' }))).toBe('APPROVAL_DENIED')
    await run.finish()
    const active = async () => (await store.approvals.permits.list({ state: 'active' })).items.length
    expect(await active()).toBe(1)
    await pass(HOUR)
    expect([await active(), (await store.approvals.permits.list()).items.length]).toEqual([0, 1])
    const again = await store.approvals.request({ ...deploy, session: 'support/4711' })
    expect(again.state).toBe('pending')
    const other = await store.approvals.request({ ...deploy, session: 'support/4711' })
    await store.approvals.decide(again.id, { decision: 'approve', scope: { for: '1h' } })
    expect(await store.approvals.request({ ...deploy, session: 'support/4711' })).toMatchObject({ state: 'approved' })
    await store.approvals.decide(other.id, { decision: 'deny', scope: 'session' })
    expect(await store.approvals.request({ ...deploy, session: 'support/4711' })).toMatchObject({ state: 'denied' })
    expect(await store.approvals.request(deploy)).toMatchObject({ state: 'approved' })
    await expectSound(store)
  })

  test('permits do not reach further than whoever gave them could: other deciders, and what is riskier, are asked', async () => {
    const store = await engine.open()
    const first = await store.approvals.request({ ...deploy, risk: 'medium' })
    await store.approvals.decide(first.id, { decision: 'approve', by: 'user/grace', scope: { for: '1h' } })
    const stateWith = async (more: object) => (await store.approvals.request({ ...deploy, ...more })).state
    expect(await stateWith({ deciders: ['user/grace', 'user/ada'] })).toBe('approved')
    expect(await stateWith({ deciders: ['user/ada'] })).toBe('pending')
    expect([await stateWith({ risk: 'low' }), await stateWith({ risk: 'medium' }), await stateWith({})]).toEqual([
      'approved',
      'approved',
      'approved',
    ])
    expect([await stateWith({ risk: 'high' }), await stateWith({ risk: 'critical' })]).toEqual(['pending', 'pending'])
    const session = await store.session('support/4711')
    await using run = await session.run('ask')
    const asking = run.ask('deploy', { to: 'staging' }, { subjectType: 'tool' })
    await expect.poll(async () => (await store.approvals.list({ run: run.id })).items.length).toBe(1)
    const [question] = (await store.approvals.list({ run: run.id })).items
    expect(question).toMatchObject({ kind: 'ask', state: 'pending', digest: first.digest })
    expect(await codeOf(store.approvals.decide(question?.id ?? '', { value: 1, scope: 'session' }))).toBe('OPTION_INVALID')
    await store.approvals.decide(question?.id ?? '', { value: 1 })
    expect(await asking).toBe(1)
    await expectSound(store)
  })

  test('permits that are given too late are not given', async () => {
    const { store, pass } = await engine.openInTime({ schedule: false })
    const { id } = await store.approvals.request({ ...deploy, within: '1h' })
    await pass(HOUR)
    expect(await codeOf(store.approvals.decide(id, { decision: 'approve', scope: { for: '1d' } }))).toBe('APPROVAL_CLOSED')
    expect(await store.approvals.get(id)).toMatchObject({ state: 'expired' })
    expect((await store.approvals.permits.list()).items).toEqual([])
    expect(await store.approvals.request(deploy)).toMatchObject({ state: 'pending' })
    expect((await store.measure()).rows.work).toBe(0)
    await expectSound(store)
  })
})

describe.each(['sqlite', 'postgres'])('with two nodes on %s', (name) => {
  test('concurrent decisions: exactly one counts, and all callers agree which', async () => {
    const { stores } = await pair(name)
    for (let round = 0; round < 10; round++) {
      const { id } = await stores[0].approvals.request({ subject: `round ${round}`, within: '1h' })
      const waiting = stores.map((store) => store.approvals.wait(id))
      const outcomes = await Promise.all(
        [0, 1, 2, 3].map(async (i) => {
          const decision = i < 2 ? 'approve' : 'deny'
          return codeOf((stores[i % 2] as Store).approvals.decide(id, { decision, by: `user/${i}`, scope: { for: '1h' } }))
        }),
      )
      expect(outcomes.filter((code) => code === 'no error')).toHaveLength(1)
      expect(outcomes.filter((code) => code === 'APPROVAL_CLOSED')).toHaveLength(3)
      const winner = outcomes.indexOf('no error')
      const rows = await Promise.all(waiting)
      expect(rows[0]).toMatchObject({ state: winner < 2 ? 'approved' : 'denied', decidedBy: `user/${winner}` })
      expect(rows[1]).toEqual(rows[0])
    }
    await expectSound(stores[0])
  })

  test('an answer and the end of its time: one of them counts, for the caller, the row and whoever waits', async () => {
    const url = name === 'postgres' ? await lentDatabase() : tempFile()
    const stores = [await openIn(url), await openIn(url)] as const
    const seen = new Set<string>()
    for (let round = 0; round < 16; round++) {
      // The first is in time and the last too late, whatever the machine is busy with; in between anything may be first.
      const within = round === 0 ? 60_000 : 30
      const { id } = await stores[round % 2 === 0 ? 0 : 1].approvals.request({ subject: `round ${round}`, within })
      const waiting = stores[0].approvals.wait(id)
      await new Promise((resolve) => setTimeout(resolve, round === 0 ? 0 : round === 15 ? 60 : 12 + round * 2))
      const told = await codeOf(stores[1].approvals.decide(id, { decision: 'approve', scope: { for: '1h' } }))
      const { state } = await waiting
      seen.add(state)
      expect([told, state]).toEqual(told === 'no error' ? ['no error', 'approved'] : ['APPROVAL_CLOSED', 'expired'])
      expect(await stateOf(stores[1], id)).toBe(state)
      expect((await stores[0].approvals.request({ subject: `round ${round}` })).state).toBe(state === 'approved' ? 'approved' : 'pending')
    }
    expect([...seen].sort()).toEqual(['approved', 'expired'])
    await expectSound(stores[0])
  })

  test('an approval that no run waits for is expired once, by the first node that looks, and by none without a scheduler', async () => {
    const asleep = await pair(name, { schedule: false })
    const { id: never } = await asleep.stores[0].approvals.request({ ...deploy, within: '1h' })
    const { stores, pass } = await pair(name)
    const asked: ApprovalRow[] = []
    for (let i = 0; i < 10; i++) asked.push(await (stores[i % 2] as Store).approvals.request({ subject: `wait ${i}`, within: `${i + 1}h` }))
    await Promise.all([pass(5 * HOUR + 60_000), asleep.pass(5 * HOUR)])
    await expect.poll(async () => (await stores[0].approvals.list({ state: 'expired' })).items.length).toBe(5)
    expect((await stores[1].approvals.list({ state: 'pending' })).items).toHaveLength(5)
    let expired = 0
    for await (const _ of stores[0].events({ types: ['approval.expired'] })) expired++
    expect(expired).toBe(5)
    expect((await stores[0].measure()).rows.work).toBe(5)
    expect(await stateOf(asleep.stores[1], never)).toBe('pending')
    expect(await asleep.stores[1].approvals.wait(never)).toMatchObject({ state: 'expired' })
    await expectSound(stores[0])
  })

  test('a question of a run is ended by the run, in as many commits as ever; where nobody runs it, by the clock', async () => {
    const { stores, pass } = await pair(name, { lease: { ttl: '3s', renew: '200ms' } })
    const [store, other] = stores
    const session = await store.session('support/4711')
    const run = await session.run('ship', { wait: '5s' })
    const before = store.stats().commits
    const asking = codeOf(run.approval('deploy', {}, { within: '1h' }))
    await expect.poll(async () => (await store.approvals.list({ state: 'pending' })).items.length).toBe(1)
    await pass(HOUR)
    expect(await asking).toBe('APPROVAL_DENIED')
    expect(store.stats().commits - before).toBe(2)
    expect((await store.measure()).rows.work).toBe(0)

    codeOf(run.approval('deploy again', {}, { within: '1h' })).catch(() => {})
    await expect.poll(async () => (await store.approvals.list({ state: 'pending' })).items.length).toBe(1)
    const [{ id }] = (await store.approvals.list({ state: 'pending' })).items as [ApprovalRow]
    await run.close()
    // Whatever starts the clock of a node.
    await other.approvals.request({ subject: 'something else', within: '30d' })
    await pass(HOUR + limits.approvalGraceMs)
    await expect.poll(() => stateOf(other, id)).toBe('expired')
    await using again = await (await other.session('support/4711')).run('ship', { wait: '5s' })
    expect(await codeOf(again.approval('deploy', {}))).toBe('APPROVAL_DENIED')
    expect(await codeOf(again.approval('deploy again', {}, { within: '1h' }))).toBe('APPROVAL_DENIED')
    await again.finish()
    await expectSound(store)
  })

  test('a permit that is revoked while the same is asked decides before, or not at all', async () => {
    const { stores } = await pair(name)
    let [by, asked] = [0, 0]
    for (let round = 0; round < 12; round++) {
      const subject = `round ${round}`
      const { id } = await stores[0].approvals.request({ subject })
      const { grants } = await stores[0].approvals.decide(id, { decision: 'approve', scope: { for: '1h' } })
      const revoking = new Promise((resolve) => setTimeout(resolve, round % 4)).then(() => stores[1].approvals.permits.revoke(grants ?? ''))
      const rows = await Promise.all([0, 1, 2, 3].map((i) => (stores[i % 2] as Store).approvals.request({ subject })))
      await revoking
      let revoked = 0
      for await (const { seq } of stores[0].events({ subject: grants as never, types: ['permit.revoked'] })) revoked = seq
      for (const row of rows) {
        let decided = 0
        for await (const { seq } of stores[0].events({ subject: row.id as never, types: ['approval.decided'] })) decided = seq
        if (row.state === 'approved') by++
        else asked++
        expect(row.state === 'approved' ? decided < revoked : decided === 0).toBe(true)
      }
    }
    expect(by + asked).toBe(48)
    await expectSound(stores[0])
  })
})
