// Approvals where somebody comes in between, each with the control that shows what would happen without the guard.

import { expect, test } from 'vitest'
import type { ApprovalRow, Store } from '../../src/index.ts'
import { limits } from '../../src/model/limits.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { shared } from '../runs/in-memory.ts'
import { codeOf, expectSound } from '../support/engines.ts'
import { rowsBy } from '../support/row-reads.ts'

/** Once, after a row of this table was read for the last of so many times and before anything that follows from it is written. */
function meanwhile(table: string, ahead: () => Promise<unknown>, times = 1) {
  let isAwaited: (id: string) => boolean = () => false
  let reads = 0
  return {
    /** Counts the reads of this row, or of any. */
    arm: (row?: string) => {
      isAwaited = (id) => row === undefined || id === row
    },
    around: (backend: Backend): Backend => ({
      ...backend,
      rows: rowsBy(backend.rows, async (tenant, of, id) => {
        const row = await backend.rows.get(tenant, of, id)
        if (of === table && isAwaited(id) && ++reads === times) await ahead()
        return row
      }),
    }),
  }
}

const unguarded =
  (...tables: readonly string[]) =>
  (backend: Backend): Backend => ({
    ...backend,
    commit: (batch) =>
      backend.commit(
        batch.map((commit) => ({ ...commit, guards: commit.guards.filter((g) => g.kind !== 'row' || !tables.includes(g.table)) })),
      ),
  })

async function revokedMeanwhile(around: (backend: Backend) => Backend): Promise<{ store: Store; asked: ApprovalRow }> {
  const store = shared()
  const other = await store()
  const { id } = await other.approvals.request({ subject: 'deploy' })
  const { grants = '' } = await other.approvals.decide(id, { decision: 'approve', scope: { for: '1h' } })
  const between = meanwhile('permits', () => other.approvals.permits.revoke(grants))
  const slow = await store({}, (backend) => between.around(around(backend)))
  between.arm(grants)
  return { store: other, asked: await slow.approvals.request({ subject: 'deploy' }) }
}

test('a permit that was revoked after it was looked at decides nothing', async () => {
  const { store, asked } = await revokedMeanwhile((backend) => backend)
  expect(asked.state).toBe('pending')
  await expectSound(store)
  const control = await revokedMeanwhile(unguarded('permits'))
  expect(control.asked.state).toBe('approved')
})

async function decidedMeanwhile(around: (backend: Backend) => Backend): Promise<{ store: Store; row: ApprovalRow | undefined }> {
  let now = 1_000_000
  const open = shared(() => now)
  const other = await open({ schedule: false })
  const { id } = await other.approvals.request({ subject: 'deploy', within: '1h' })
  const between = meanwhile(
    'approvals',
    () => {
      // By a clock that is behind, as it is for whoever answers just in time.
      now -= 3_600_000
      return other.approvals.decide(id, { decision: 'approve' }).finally(() => {
        now += 3_600_000
      })
      // It looks once whether there is anything to do, and once to decide on it.
    },
    2,
  )
  const clock = await open({}, (backend) => between.around(around(backend)))
  now += 3_600_000
  between.arm(id)
  await clock.approvals.request({ subject: 'starts the clock', within: '1h' })
  await expect.poll(async () => (await other.measure()).rows.work).toBe(1)
  return { store: other, row: await other.approvals.get(id) }
}

test('an answer that came before the clock could write that it is too late is the answer', async () => {
  const { store, row } = await decidedMeanwhile((backend) => backend)
  expect(row?.state).toBe('approved')
  await expectSound(store)
  const control = await decidedMeanwhile(unguarded('approvals', 'work'))
  await expect.poll(async () => (await control.store.approvals.get(control.row?.id ?? ''))?.state).toBe('expired')
})

test('an approval with a key belongs to the first caller who used the key', async () => {
  const open = shared()
  const other = await open()
  let first: ApprovalRow | undefined
  const between = meanwhile('names', async () => {
    first = await other.approvals.request({ subject: 'deploy', key: 'call-1', within: '1h' })
  })
  const slow = await open({}, between.around)
  between.arm()
  const second = await slow.approvals.request({ subject: 'deploy', key: 'call-1' })
  expect(second).toEqual(first)
  expect((await other.approvals.list()).items).toHaveLength(1)
  await expectSound(other)
})

test('an approval whose question was erased can be denied, and not approved', async () => {
  const store = await shared()()
  const { id } = await store.approvals.request({ subject: 'pay ada', deciders: ['user/grace'], key: 'call-1', within: '1h' })
  for await (const { seq } of store.events({ types: ['approval.requested'] })) await store.erase({ seq, reason: 'request 12' })
  expect(await store.approvals.get(id)).toMatchObject({ state: 'pending', subject: '' })
  expect(await codeOf(store.approvals.decide(id, { decision: 'approve', scope: { for: '1h' } }))).toBe('APPROVAL_OTHER')
  for await (const entry of store.approvals.history(id)) expect(entry).toMatchObject({ what: 'asked', erased: true })
  expect(await store.approvals.decide(id, { decision: 'deny' })).toMatchObject({ state: 'denied' })
  // Denied it stays: its key asks nobody anew.
  expect(await codeOf(store.approvals.request({ subject: 'pay ada', key: 'call-1' }))).toBe('KEY_REUSED')
  await expectSound(store)
})

test('a list that finds little says where it stopped looking, and the rest is found from there', async () => {
  const store = await shared()({ redact: false })
  const oldest = await store.approvals.request({ subject: 'rare', risk: 'critical' })
  const many = limits.listLooks + 300
  for (let i = 0; i < many; i += 1000) {
    const some = Array.from({ length: Math.min(1000, many - i) }, (_, j) => store.approvals.request({ subject: `common ${i + j}` }))
    await Promise.all(some)
  }
  const page = await store.approvals.list({ risk: 'critical' })
  expect(page.items).toEqual([])
  expect(page.cursor).toBeDefined()
  expect(await store.approvals.list({ risk: 'critical', cursor: page.cursor as string })).toEqual({ items: [oldest] })
})

test('an abort ends a wait, and so does the end of the store', async () => {
  const store = await shared()()
  const { id } = await store.approvals.request({ subject: 'deploy' })
  const stop = new AbortController()
  const [aborted, closed] = [codeOf(store.approvals.wait(id, { signal: stop.signal })), codeOf(store.approvals.wait(id))]
  stop.abort()
  expect(await aborted).toBe('ABORTED')
  await store.close()
  expect(await closed).toBe('STORE_CLOSED')
})
