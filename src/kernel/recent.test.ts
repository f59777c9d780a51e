// When the journal is asked for what others may have written, with the timer and the signals in the test's own hands.

import { expect, test } from 'vitest'
import { memoryBackend } from '../backends/memory/backend.ts'
import { nodeEnvironment } from '../environment.ts'
import { MAIN } from '../model/ids.ts'
import type { Backend } from '../ports/backend.ts'
import { createStore } from './store.ts'

test('a node that writes alone does not ask where the journal ends; once another may have written, it does', async () => {
  let [asked, due] = [0, () => {}]
  const wakers = new Set<() => void>()
  const ring = () => {
    for (const wake of wakers) wake()
  }
  const real = memoryBackend(nodeEnvironment)
  const backend: Backend = {
    ...real,
    // As PostgreSQL does: whoever watches on this node is woken before the commit is answered.
    commit: async (batch) => {
      const outcomes = await real.commit(batch)
      ring()
      return outcomes
    },
    journal: {
      ...real.journal,
      head: (tenant) => {
        asked++
        return real.journal.head(tenant)
      },
    },
    signals: {
      ...real.signals,
      watch: (_, wake) => {
        wakers.add(wake)
        return () => wakers.delete(wake)
      },
    },
  }
  // The watchdog waits idly too, and for longer.
  const idly = (ms: number) => (ms > 100 ? nodeEnvironment.timer.idly(ms) : new Promise<void>((resolve) => (due = resolve)))
  const timer = { ...nodeEnvironment.timer, idly }
  const store = await createStore(backend, { ...nodeEnvironment, clock: { ...nodeEnvironment.clock, monotonic: () => 0 }, timer }, {})
  const timePasses = async () => {
    due()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const session = await store.session('s')
  await timePasses()
  asked = 0
  for (let n = 0; n < 3; n++) {
    await session.append('work.done', { n })
    await timePasses()
  }
  expect(asked).toBe(0)

  ring()
  await timePasses()
  expect(asked).toBe(1)

  // Somebody else's, of which nothing was heard: our own next one lies behind a gap, and those that follow do not close it.
  const other = await createStore({ ...real, close: async () => {} }, nodeEnvironment, {})
  await (await other.session('s')).append('work.done', { n: 'theirs' })
  await session.append('work.done', { n: 'ours' })
  await session.append('work.done', { n: 'ours too' })
  await timePasses()
  expect(asked).toBe(2)
  await expect.poll(() => store.recent().map(({ seq, data }) => [seq, data])).toContainEqual([5, { n: 'theirs' }])
  expect((await real.journal.head(MAIN)).seq).toBe(7)
  await store.close()
})
