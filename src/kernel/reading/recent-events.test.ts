// When the journal is asked for what others may have written, with the timer and the signals in the test's own hands.

import { expect, test } from 'vitest'
import { memoryBackend } from '../../backends/memory/backend.ts'
import { nodeEnvironment } from '../../environment.ts'
import type { Backend } from '../../ports/backend.ts'
import type { Timer } from '../../ports/environment.ts'
import { createStore } from '../store.ts'

/** A store, somebody else who writes to the same journal, and what happens in between. */
async function beside() {
  const wakers = new Set<() => void>()
  const timers: (() => void)[] = []
  const real = memoryBackend(nodeEnvironment)
  const on = {
    asked: 0,
    /** Told that others wrote. */
    ring: () => {
      for (const wake of wakers) wake()
    },
    beforeAnswer: async () => {},
    beforeHead: async () => {},
    beforePage: async () => {},
  }
  const backend: Backend = {
    ...real,
    commit: async (batch) => {
      const outcomes = await real.commit(batch)
      await on.beforeAnswer()
      return outcomes
    },
    journal: {
      ...real.journal,
      head: async (tenant) => {
        on.asked++
        await on.beforeHead()
        return real.journal.head(tenant)
      },
      page: async (tenant, query) => {
        const page = await real.journal.page(tenant, query)
        await on.beforePage()
        return page
      },
    },
    wakeups: {
      watch: (_, wake, options) => {
        // Without it, every own commit would wake it.
        expect(options).toMatchObject({ others: true })
        wakers.add(wake)
        return () => wakers.delete(wake)
      },
    },
  }
  const waits: number[] = []
  const idly: Timer['idly'] = (ms, signal) => {
    // The watchdog waits idly too, and is not asked to stop.
    if (!signal) return nodeEnvironment.timer.idly(ms)
    waits.push(ms)
    return new Promise<void>((resolve) => timers.push(resolve))
  }
  const clock = { ...nodeEnvironment.clock, monotonic: () => 0 }
  const store = await createStore(backend, { ...nodeEnvironment, clock, timer: { ...nodeEnvironment.timer, idly } }, { schedule: false })
  const other = await createStore({ ...real, close: async () => {} }, nodeEnvironment, {})
  const [ours, theirs] = [await store.session('s'), await other.session('s')]
  const timePasses = async () => {
    for (const due of timers.splice(0)) due()
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  await timePasses()
  on.asked = 0
  const seqs = () => store.recent().map(({ seq }) => seq)
  const once = (work: () => Promise<unknown>) => {
    let done = false
    return async () => {
      if (done) return
      done = true
      await work()
    }
  }
  return {
    on,
    store,
    other,
    ours: () => ours.append('task.done', {}),
    theirs: () => theirs.append('task.done', {}),
    timePasses,
    seqs,
    once,
    waits,
  }
}

const upTo = (n: number): readonly number[] => Array.from({ length: n }, (_, i) => i + 1)

test('a node that writes alone does not ask where the journal ends; once it hears of others, it does', async () => {
  const { on, store, ours, theirs, timePasses, seqs } = await beside()
  for (let n = 0; n < 3; n++) {
    await ours()
    await timePasses()
  }
  expect(on.asked).toBe(0)
  await theirs()
  on.ring()
  await timePasses()
  expect(on.asked).toBe(1)
  expect(seqs()).toEqual(upTo(5))
  await store.close()
})

test('events of others without a wakeup are found by the gap before the next own commit', async () => {
  const { store, ours, theirs, timePasses, seqs } = await beside()
  await theirs()
  await ours()
  await ours()
  await timePasses()
  expect(seqs()).toEqual(upTo(4))
  await store.close()
})

test('own commits that overtake a look do not undo it', async () => {
  const { on, store, ours, theirs, timePasses, seqs, once } = await beside()
  await theirs()
  await ours()
  on.beforePage = once(ours)
  await timePasses()
  expect(seqs()).toEqual(upTo(4))
  // And where somebody else came in between once more, it looks again.
  on.beforePage = once(async () => {
    await theirs()
    await ours()
  })
  on.ring()
  await theirs()
  await timePasses()
  await timePasses()
  expect(seqs()).toEqual(upTo(7))
  await store.close()
})

test('a wakeup during an unanswered commit of our own still causes a read', async () => {
  const { on, store, ours, theirs, timePasses, seqs, once } = await beside()
  on.beforeAnswer = once(async () => {
    await theirs()
    on.ring()
  })
  await ours()
  await timePasses()
  expect(seqs()).toEqual(upTo(3))
  await store.close()
})

test('a look that fails is tried again, though nobody rings, and more and more patiently', async () => {
  const { on, store, theirs, timePasses, seqs, waits } = await beside()
  on.beforeHead = () => Promise.reject(new Error('no connection'))
  await theirs()
  on.ring()
  waits.length = 0
  for (let n = 0; n < 8; n++) await timePasses()
  expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
  expect(seqs()).toEqual(upTo(1))
  on.beforeHead = async () => {}
  await timePasses()
  expect(seqs()).toEqual(upTo(2))
  await store.close()
})

test('an event that is erased during a read does not come back with it', async () => {
  const { on, store, other, ours, theirs, timePasses, once } = await beside()
  const { seq } = await ours()
  const erasedHere = () => store.recent().find((event) => event.seq === seq)
  on.beforePage = once(() => store.erase({ seq, reason: 'asked for' }))
  await theirs()
  on.ring()
  for (let n = 0; n < 3; n++) await timePasses()
  expect(erasedHere()).toMatchObject({ erased: true, data: undefined })

  // By somebody else: a page from before that comes later than one from after says nothing.
  const { seq: second } = await ours()
  const held = Promise.withResolvers<void>()
  on.beforePage = once(() => held.promise)
  await theirs()
  on.ring()
  await timePasses()
  await other.erase({ seq: second, reason: 'asked for' })
  on.ring()
  await timePasses()
  held.resolve()
  for (let n = 0; n < 3; n++) await timePasses()
  expect(store.recent().find((event) => event.seq === second)).toMatchObject({ erased: true, data: undefined })
  await store.close()
})
