// What must hold for a store of an earlier version once today's code has opened it, whatever it lies in.

import { expect } from 'vitest'
import type { Store } from '../../src/index.ts'
import type { Stored } from './stored.ts'

export async function expectGoesOn(store: Store, { receipts }: Stored): Promise<void> {
  const acme = store.tenant('acme')
  const report = await store.verify({ receipts })
  expect(report).toMatchObject({ intact: true, anchors: { receipts: receipts.length } })
  expect(report.states.erased).toBeGreaterThan(0)
  expect(await acme.verify()).toMatchObject({ intact: true })
  for (const tenant of [store, acme]) expect(await tenant.rebuild({ check: true })).toMatchObject({ equal: true, differences: [] })

  const support = await store.sessions.find('support/4711')
  expect(support?.toJSON()).toMatchObject({ title: 'Order 4711, shipped', owner: 'user_1', state: 'open', metadata: { from: 'mail' } })
  expect((await store.sessions.list({ state: 'archived' })).items).toHaveLength(1)
  expect(await store.sessions.find('gone')).toBeUndefined()
  expect(store.recent().map((event) => event.data)).toContainEqual({ call: 'c1', result: 'ü 漢 🖋' })

  const [cause] = receipts
  const command = { ...(cause && { cause: cause.id }), key: 'req-1' }
  expect(await support?.append('tool.returned', { call: 'c1', result: 'ü 漢 🖋' }, command)).toEqual(receipts[1])
  const next = await support?.append('note.taken', { text: 'new' })
  expect(next?.seq).toBe(report.head.seq + 1)
  expect(await store.verify({ receipts })).toMatchObject({ intact: true })
}

/** The same store with one payload changed behind its back. */
export function tampered(stored: Stored): Stored {
  const events = stored.tables.events?.map((row) =>
    row.payload === '{"call":"c1","result":"ü 漢 🖋"}' ? { ...row, payload: '{"call":"c1"}' } : row,
  )
  return { ...stored, tables: { ...stored.tables, events: events ?? [] } }
}
