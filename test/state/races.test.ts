// Others write between two steps of a call: nothing that was set again is removed, and no writer is refused for a change that is none.

import { expect, test } from 'vitest'
import { memoryBackend } from '../../src/backends/memory/backend.ts'
import { nodeEnvironment } from '../../src/environment.ts'
import { open, type Store } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { later } from '../support/cleanups.ts'
import { expectSound } from '../support/engines.ts'

/** A store whose reads of state call `between` once, after the read. */
async function opened(at: 'get' | 'list'): Promise<{ store: Store; pass(ms: number): void; between(work: () => Promise<unknown>): void }> {
  let now = 1_000_000
  const clock = { ...nodeEnvironment.clock, now: () => now }
  const real = memoryBackend({ ...nodeEnvironment, clock })
  let work: (() => Promise<unknown>) | undefined
  const told = async () => {
    const once = work
    work = undefined
    await once?.()
  }
  const rows: Backend['rows'] = {
    get: async (tenant, table, id) => {
      const row = await real.rows.get(tenant, table, id)
      if (at === 'get' && table === 'state') await told()
      return row
    },
    getMany: async (tenant, keys) => {
      const found = await real.rows.getMany(tenant, keys)
      if (at === 'get' && keys.some(({ table }) => table === 'state')) await told()
      return found
    },
    list: async (tenant, table, query) => {
      const page = await real.rows.list(tenant, table, query)
      if (at === 'list' && table === 'state' && query.index === 'byExpiry') await told()
      return page
    },
  }
  const store = await open({ backend: { ...real, rows }, clock })
  later(() => store.close())
  return {
    store,
    pass: (ms) => {
      now += ms
    },
    between: (given) => {
      work = given
    },
  }
}

test('an entry that is set again while maintenance removes expired ones stays', async () => {
  const { store, pass, between } = await opened('list')
  await store.state.set('lock', 'first', { ttl: '1m' })
  await store.state.set('other', 'first', { ttl: '1m' })
  pass(60_001)
  between(() => store.state.set('lock', 'second'))
  expect((await store.maintain()).stateExpired).toBe(1)
  expect((await store.state.get('lock'))?.value).toBe('second')
  expect(await store.state.exists('other')).toBe(false)
  await expectSound(store)
})

test('a writer that expects no entry is not refused because maintenance removed an expired one meanwhile', async () => {
  const { store, pass, between } = await opened('get')
  await store.state.set('lock', 'first', { ttl: '1m' })
  pass(60_001)
  between(() => store.maintain())
  const { revision } = await store.state.set('lock', 'second', { expect: 0 })
  expect(await store.state.get('lock')).toMatchObject({ value: 'second', revision })
  between(() => store.state.set('lock', 'third'))
  await expect(store.state.set('lock', 'fourth', { expect: revision })).rejects.toMatchObject({
    code: 'STATE_CHANGED',
    details: { expect: revision, found: revision + 1 },
  })
  await expectSound(store)
})

test('a snapshot of the last event is not ahead of the journal while others append', async () => {
  const real = memoryBackend(nodeEnvironment)
  let between: (() => Promise<unknown>) | undefined
  const head: Backend['journal']['head'] = async (tenant) => {
    const found = await real.journal.head(tenant)
    const once = between
    between = undefined
    await once?.()
    return found
  }
  const store = await open({ backend: { ...real, journal: { ...real.journal, head } } })
  later(() => store.close())
  const session = await store.session('exec')
  await session.append('step.completed', { step: 1 })
  between = () => session.append('step.completed', { step: 2 })
  const { seq } = await store.snapshots.save('exec', { state: 1 })
  expect(between).toBeUndefined()
  expect((await store.snapshots.load('exec'))?.seq).toBe(seq)
  await expectSound(store)
})
