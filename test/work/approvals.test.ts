// Approvals as their users hold them: what is asked exactly, who may decide, for how long an answer counts, and what stands afterwards.

import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { ApprovalRow, HistoryEntry, Store } from '../../src/index.ts'
import { canonical } from '../../src/model/canonical.ts'
import { limits } from '../../src/model/limits.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const wipe = { subjectType: 'tool', subject: 'rm -rf build', data: { cwd: '/srv/app', force: true } } as const
const digestOf = ({ subjectType, subject, data }: { subjectType?: unknown; subject: unknown; data?: unknown }) =>
  createHash('sha256').update(canonical({ subjectType, subject, data })).digest('hex')

const pendingOf = async (store: Store): Promise<ApprovalRow> => {
  await expect.poll(async () => (await store.approvals.list({ state: 'pending' })).items.length).toBe(1)
  return (await store.approvals.list({ state: 'pending' })).items[0] as ApprovalRow
}

const historyOf = async (store: Store, id: string): Promise<readonly HistoryEntry[]> => {
  const entries: HistoryEntry[] = []
  for await (const entry of store.approvals.history(id)) entries.push(entry)
  return entries
}

describe.each(engines)('approvals on $name', (engine) => {
  test('a request has its subject, its arguments, their digest, its risk and who may decide; whoever waits gets the decision', async () => {
    const store = await engine.open()
    const asked = await store.as('agent_7').approvals.request({ ...wipe, risk: 'high', deciders: ['user/grace', 'user/ada'], within: '1h' })
    expect(asked).toMatchObject({ ...wipe, state: 'pending', kind: 'approval', risk: 'high', askedBy: 'agent_7', digest: digestOf(wipe) })
    expect(asked.expires).toBeGreaterThan(asked.askedAt)
    const waiting = store.approvals.wait(asked.id)
    await store.approvals.decide(asked.id, { decision: 'approve', by: 'user/grace', note: 'it is only a build' })
    expect(await waiting).toMatchObject({ id: asked.id, state: 'approved', decidedBy: 'user/grace', note: 'it is only a build' })
    expect(await store.approvals.get(asked.id)).toEqual(await waiting)
    expect(await codeOf(store.approvals.decide(asked.id, { decision: 'deny', by: 'user/ada' }))).toBe('APPROVAL_CLOSED')
    await expectSound(store)
  })

  test('a decision by somebody else, or on something else, is refused and nothing is written', async () => {
    const store = await engine.open()
    const { id, digest } = await store.approvals.request({ ...wipe, deciders: ['user/grace'] })
    const other = digestOf({ ...wipe, data: { ...wipe.data, cwd: '/' } })
    const { seq } = await store.head()
    const refused = [
      [{ decision: 'approve' }, 'APPROVAL_FORBIDDEN'],
      [{ decision: 'approve', by: 'user/mallory' }, 'APPROVAL_FORBIDDEN'],
      [{ decision: 'approve', by: 'user/mallory', scope: { for: '1h' } }, 'APPROVAL_FORBIDDEN'],
      [{ decision: 'approve', by: 'user/grace', digest: other, scope: { for: '1h' } }, 'APPROVAL_OTHER'],
      [{ decision: 'deny', by: 'user/grace', digest: other }, 'APPROVAL_OTHER'],
      [{ decision: 'approve', by: 'user/grace', digest: 'no digest' }, 'OPTION_INVALID'],
      [{ decision: 'approve', by: 'user/grace', scope: 'session' }, 'OPTION_INVALID'],
      [{ decision: 'approve', by: 'user/grace', scope: { for: 0 } }, 'OPTION_INVALID'],
      [{ decision: 'approve', by: 'user/grace', scope: { for: 'ever' } }, 'DURATION_INVALID'],
      [{ decision: 'approve', by: 'user/grace', scope: 'always' }, 'OPTION_INVALID'],
      [{ value: 3, by: 'user/grace' }, 'OPTION_INVALID'],
    ] as const
    for (const [options, code] of refused)
      expect(await codeOf(store.approvals.decide(id, options as never)), JSON.stringify(options)).toBe(code)
    expect((await store.head()).seq).toBe(seq)
    expect((await store.approvals.permits.list()).items).toEqual([])
    expect(await store.as('user/grace').approvals.decide(id, { decision: 'approve', digest: digest as string })).toMatchObject({
      decidedBy: 'user/grace',
    })
    await expectSound(store)
  })

  test('bad requests for approval are refused and nothing is written', async () => {
    const store = await engine.open()
    const { seq } = await store.head()
    const refused = [
      [{}, 'RUN_NAME_INVALID'],
      [{ subject: 'a\u0000b' }, 'RUN_NAME_INVALID'],
      [{ subject: 's', subjectType: '' }, 'RUN_NAME_INVALID'],
      [{ subject: 's', data: { at: new Map() } }, 'DATA_INVALID'],
      [{ subject: 's', risk: 'none' }, 'OPTION_INVALID'],
      [{ subject: 's', deciders: [] }, 'OPTION_INVALID'],
      [{ subject: 's', deciders: 'user/grace' }, 'OPTION_INVALID'],
      [{ subject: 's', deciders: [7] }, 'OPTION_INVALID'],
      [{ subject: 's', deciders: [undefined] }, 'OPTION_INVALID'],
      [{ subject: 's', within: '-1h' }, 'DURATION_INVALID'],
      [{ subject: 's', session: 'nowhere' }, 'SESSION_UNKNOWN'],
      [{ subject: 's', key: '' }, 'KEY_INVALID'],
      // Unheard, anybody could decide, for as long as they like.
      [{ subject: 's', decider: ['user/grace'] }, 'OPTION_INVALID'],
      [{ subject: 's', wihtin: '1h' }, 'OPTION_INVALID'],
    ] as const
    for (const [options, code] of refused)
      expect(await codeOf(store.approvals.request(options as never)), JSON.stringify(options)).toBe(code)
    const none = '01ARZ3NDEKTSV4RRFFQ69G5FAV'
    expect(await codeOf(store.approvals.wait(none))).toBe('APPROVAL_UNKNOWN')
    expect(await codeOf(store.approvals.seen(none, { by: 'user/ada' }))).toBe('APPROVAL_UNKNOWN')
    expect(await codeOf(store.approvals.delivered(none, { channel: 'mail' }))).toBe('APPROVAL_UNKNOWN')
    expect(await codeOf(store.approvals.withdraw(none))).toBe('APPROVAL_UNKNOWN')
    expect(await codeOf(store.approvals.history(none).next())).toBe('APPROVAL_UNKNOWN')
    expect(await codeOf(store.approvals.permits.revoke(none))).toBe('PERMIT_UNKNOWN')
    expect(await codeOf(store.approvals.list({ risk: 'none' as never }))).toBe('RANGE_INVALID')
    expect(await codeOf(store.approvals.list({ last: limits.listRows + 1 }))).toBe('RANGE_INVALID')
    expect((await store.head()).seq).toBe(seq)
  })

  test('a key asks once, also when several ask at once; with something else it is refused', async () => {
    const store = await engine.open()
    const asked = await Promise.all([1, 2, 3, 4].map(() => store.approvals.request({ ...wipe, key: 'call-1' })))
    expect(new Set(asked.map(({ id }) => id)).size).toBe(1)
    expect((await store.approvals.list()).items).toHaveLength(1)
    const { id } = asked[0] as ApprovalRow
    await store.approvals.decide(id, { decision: 'deny' })
    expect(await store.approvals.request({ ...wipe, key: 'call-1', within: '1h' })).toMatchObject({ id, state: 'denied' })
    for (const other of [{ data: { cwd: '/' } }, { deciders: ['user/ada'] }, { risk: 'low' }, { subject: 'ls' }] as const)
      expect(await codeOf(store.approvals.request({ ...wipe, key: 'call-1', ...other }))).toBe('KEY_REUSED')
    expect((await store.approvals.request(wipe)).id).not.toBe(id)
    await expectSound(store)
  })

  test('notifications, looks and decisions are recorded once each, and the row stays small', async () => {
    const store = await engine.open()
    const { id } = await store.as('agent_7').approvals.request(wipe)
    await store.approvals.delivered(id, { channel: 'slack', ref: 'C1/171' })
    await store.approvals.delivered(id, { channel: 'slack', ref: 'C1/171' })
    await store.approvals.delivered(id, { channel: 'mail' })
    await store.approvals.seen(id, { by: 'user/ada' })
    await store.approvals.seen(id, { by: 'user/ada' })
    await store.approvals.seen(id, { by: 'user/grace' })
    await store.approvals.decide(id, { decision: 'deny', by: 'user/grace', note: 'not on a friday' })
    expect(await historyOf(store, id)).toMatchObject([
      { what: 'asked', actor: 'agent_7' },
      { what: 'delivered', channel: 'slack', ref: 'C1/171' },
      { what: 'delivered', channel: 'mail' },
      { what: 'seen', by: 'user/ada' },
      { what: 'seen', by: 'user/grace' },
      { what: 'decided', state: 'denied', by: 'user/grace', note: 'not on a friday', at: expect.any(Number), seq: expect.any(Number) },
    ])
    expect(await store.approvals.get(id)).toMatchObject({
      deliveries: [{ channel: 'slack', ref: 'C1/171', at: expect.any(Number) }, { channel: 'mail' }],
      seen: [{ by: 'user/ada' }, { by: 'user/grace' }],
    })
    for (let i = 0; i < limits.approvalNotes + 5; i++) await store.approvals.seen(id, { by: `user/${i}` })
    expect((await store.approvals.get(id))?.seen).toHaveLength(limits.approvalNotes)
    // Two were on record before.
    expect(await historyOf(store, id)).toHaveLength(6 + limits.approvalNotes - 2)
    await expectSound(store)
  })

  test('nobody has to answer what was withdrawn, and a deleted session withdraws what it asked and revokes what it permits', async () => {
    const store = await engine.open()
    const session = await store.session('support/4711')
    const { id } = await store.approvals.request({ ...wipe, within: '1h' })
    expect(await store.approvals.withdraw(id, { by: 'agent_7', note: 'done otherwise' })).toMatchObject({
      state: 'withdrawn',
      decidedBy: 'agent_7',
    })
    expect(await codeOf(store.approvals.decide(id, { decision: 'approve' }))).toBe('APPROVAL_CLOSED')
    expect(await codeOf(store.approvals.withdraw(id))).toBe('APPROVAL_CLOSED')
    const mine = await store.approvals.request({ ...wipe, session: 'support/4711', within: '1h' })
    const first = await store.approvals.request({ subject: 'ls', session: session.id })
    await store.approvals.decide(first.id, { decision: 'approve', scope: { for: '1h' } })
    await session.delete({ reason: 'asked for' })
    expect(await store.approvals.get(mine.id)).toMatchObject({ state: 'withdrawn', subject: '' })
    expect((await store.approvals.permits.list()).items).toMatchObject([{ state: 'revoked', subject: '' }])
    expect(await store.approvals.request({ subject: 'ls' })).toMatchObject({ state: 'pending' })
    expect(await codeOf(store.approvals.request({ subject: 'ls', session: session.id }))).toBe('SESSION_DELETED')
    expect((await store.measure()).rows.work).toBe(0)
    await expectSound(store)
  })

  test('lists of approvals are narrowed by state, run, session, subject type and risk, and go on exactly where they stopped', async () => {
    const store = await engine.open()
    const session = await store.session('support/4711')
    const ids: Record<string, string[]> = { tool: [], mail: [] }
    for (let i = 0; i < 30; i++) {
      const subjectType = i % 3 === 0 ? 'mail' : 'tool'
      const risk = i % 2 === 0 ? 'high' : 'low'
      const { id } = await store.approvals.request({ subject: `do ${i}`, subjectType, risk, ...(i < 10 && { session: session.id }) })
      ids[subjectType]?.unshift(id)
      if (i % 5 === 0) await store.approvals.decide(id, { decision: 'approve' })
    }
    const walk = async (options: Parameters<Store['approvals']['list']>[0]) => {
      const found: ApprovalRow[] = []
      for (let cursor: string | undefined; ; ) {
        const page = await store.approvals.list({ ...options, last: 3, ...(cursor !== undefined && { cursor }) })
        expect(page.items.length).toBeLessThanOrEqual(3)
        found.push(...page.items)
        if (page.cursor === undefined) return found
        cursor = page.cursor
      }
    }
    expect((await walk({ subjectType: 'mail' })).map(({ id }) => id)).toEqual(ids.mail)
    expect((await walk({ subjectType: 'tool' })).map(({ id }) => id)).toEqual(ids.tool)
    expect(await walk({ session: session.id })).toHaveLength(10)
    expect(await walk({ state: 'approved', risk: 'high' })).toHaveLength(3)
    expect(await walk({ state: 'pending', risk: 'low', subjectType: 'mail', session: session.id })).toHaveLength(2)
    expect(await walk({})).toHaveLength(30)
    expect((await store.approvals.list({ risk: 'low', last: 15 })).cursor).toBeDefined()
    expect((await store.approvals.list({ risk: 'high', last: 16 })).cursor).toBeUndefined()
  })

  test('secrets in arguments, notes and references are masked, and the digest is that of what is stored', async () => {
    const store = await engine.open()
    const secret = 'ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2'
    const asked = await store.approvals.request({ subject: `push with ${secret}`, data: { token: secret, url: `https://u:${secret}@h/` } })
    const again = await store.approvals.request({ subject: `push with ${secret}`, data: { token: secret, url: `https://u:${secret}@h/` } })
    await store.approvals.delivered(asked.id, { channel: 'slack', ref: secret })
    await store.approvals.delivered(asked.id, { channel: 'slack', ref: secret })
    await store.approvals.decide(asked.id, {
      decision: 'approve',
      note: `use ${secret}`,
      digest: asked.digest as string,
      scope: { for: '1h' },
    })
    const row = (await store.approvals.get(asked.id)) as ApprovalRow
    expect(row.deliveries).toHaveLength(1)
    expect([asked.digest, row.digest]).toEqual([again.digest, digestOf(row)])
    const lines: string[] = []
    for await (const line of store.approvals.export()) lines.push(line)
    const all = [row, lines, await historyOf(store, asked.id), (await store.approvals.permits.list()).items]
    for await (const event of store.events()) all.push(event as never)
    expect(JSON.stringify(all)).not.toContain('a1B2a1B2')
    await expectSound(store)
  })

  test('a run is told by the same: its questions have types, risks and deciders, and what is asked with other arguments is not what was approved', async () => {
    const store = await engine.open()
    const session = await store.session('support/4711')
    {
      await using run = await session.run('clean', { wait: '5s' })
      const asking = run.approval(wipe.subject, wipe.data, {
        subjectType: 'tool',
        risk: 'critical',
        deciders: ['user/grace'],
        within: '2d',
      })
      const { id, digest, run: asker } = await pendingOf(store)
      expect([digest, asker]).toEqual([digestOf(wipe), run.id])
      expect(await store.approvals.get(id)).toMatchObject({ subjectType: 'tool', risk: 'critical', session: session.id })
      expect(await codeOf(store.approvals.decide(id, { decision: 'approve', by: 'user/ada' }))).toBe('APPROVAL_FORBIDDEN')
      await store.approvals.decide(id, { decision: 'approve', by: 'user/grace', digest: digest as string })
      await asking
      expect((await store.approvals.list({ run: run.id, state: 'approved' })).items).toHaveLength(1)
      expect((await store.approvals.list({ run: run.id, state: 'denied' })).items).toEqual([])
    }
    {
      await using run = await session.run('clean', { wait: '5s' })
      expect(await codeOf(run.approval(wipe.subject, { ...wipe.data, cwd: '/' }, { subjectType: 'tool' }))).toBe('REPLAY_DIVERGED')
    }
    await using run = await session.run('clean', { wait: '5s' })
    expect(await codeOf(run.approval(wipe.subject, wipe.data, { subjectType: 'tool' }))).toBe('no error')
    expect(await codeOf(run.approval('s', {}, { risk: 'none' as never }))).toBe('OPTION_INVALID')
    expect(await codeOf(run.ask('s', {}, { deciders: [] }))).toBe('OPTION_INVALID')
    await run.finish()
    await expectSound(store)
  })
})
