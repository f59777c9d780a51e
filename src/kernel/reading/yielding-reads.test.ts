// A loop that polls by reading lets everything else in the process go on.

import { describe, expect, test } from 'vitest'
import { openIn, tempFile, tempFolder } from '../../../test/support/engines.ts'
import { memoryBackend } from '../../backends/memory/backend.ts'
import { nodeEnvironment } from '../../environment.ts'
import type { Store } from '../../index.ts'
import { MAIN } from '../../model/ids.ts'
import { yieldingReads } from './yielding-reads.ts'

const stores = {
  memory: () => openIn(':memory:'),
  sqlite: () => openIn(tempFile()),
  'sqlite folder': () => openIn(tempFolder(), { layout: 'tenant' }),
}

const READS: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  head: (store) => store.head(),
  page: (store) => store.page({ limit: 1 }),
  'sessions.list': (store) => store.sessions.list({ summary: true }),
  'sessions.find': (store) => store.sessions.find('s'),
  'runs.list': (store) => store.runs.list(),
  'approvals.list': (store) => store.approvals.list(),
  'cron.list': (store) => store.cron.list(),
  queues: (store) => store.queues(),
  tenants: (store) => store.tenants(),
  health: (store) => store.health(),
}

// A loop that starves the process would never end: after this long it gives up, which is a failure.
const DEADLINE_MS = 5000

/** How the loop ended: with what it polled for, or at its deadline. */
async function poll(done: () => boolean, read: () => Promise<unknown>): Promise<'done' | 'starved'> {
  const begun = performance.now()
  while (!done()) {
    await read()
    if (performance.now() - begun > DEADLINE_MS) return 'starved'
  }
  return 'done'
}

describe.each(Object.keys(stores) as (keyof typeof stores)[])('polling on %s', (name) => {
  test.each(Object.keys(READS))('a loop of %s lets an append and a timer finish', async (read) => {
    const store = await stores[name]()
    const session = await store.session('s')
    let [written, fired] = [false, false]
    const append = session.append('a.b', 1).then(() => {
      written = true
    })
    setTimeout(() => {
      fired = true
    }, 1)
    expect(
      await poll(
        () => written && fired,
        () => (READS[read] as (store: Store) => Promise<unknown>)(store),
      ),
    ).toBe('done')
    await append
  })
})

test('a loop of reads that do not yield starves a timer, and ends at its deadline', async () => {
  const backend = memoryBackend(nodeEnvironment)
  let fired = false
  setTimeout(() => {
    fired = true
  }, 1)
  let reads = 0
  const most = 20_000
  while (!fired && reads++ < most) await backend.journal.head(MAIN)
  expect(fired).toBe(false)
  const yielding = yieldingReads(backend, nodeEnvironment)
  expect(
    await poll(
      () => fired,
      () => yielding.journal.head(MAIN),
    ),
  ).toBe('done')
})
