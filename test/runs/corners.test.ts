// Corners where a run could lose its way: two kinds of wait by one name, a branch that lost, an answer that never came, a question answered too
// late, a node with more to look at than it can take. Each of them once went wrong.

import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Branch, Run } from '../../src/index.ts'
import { codeOf, expectSound } from '../support/engines.ts'
import { count, inMemory, session, shared } from './in-memory.ts'

describe('a hand on a run', () => {
  test('a handle of a run cannot get past the lease by asking for one of its own', async () => {
    const another = shared()
    const [here, there] = [await another(), await another()]
    const mine = await (await session(here)).run('r')
    expect(await codeOf((await session(there)).run('r', { parallel: true }))).toBe('RUN_HELD')
    await mine.finish()
  })

  test('a handle of a run appends once, though two of them in one process ask for it', async () => {
    const store = await inMemory()
    const runs = [await (await session(store)).run('r'), await (await session(store)).run('r')]
    const receipts = await Promise.all(runs.map((run) => run.append('plan.changed', { steps: 3 })))
    expect(receipts[0]).toEqual(receipts[1])
    expect(await count(store, 'plan.changed')).toBe(1)
  })

  test('a handle of a run that could not be given back is not held on to', async () => {
    const another = shared()
    const lease = { ttl: 300, renew: 50 }
    let broken = false
    const store = await another({ lease }, (backend) => ({
      ...backend,
      commit: async (batch) => {
        if (broken) throw new Error('the network is away')
        return backend.commit(batch)
      },
    }))
    const run = await (await session(store)).run('r')
    broken = true
    await run.close().catch(() => {})
    broken = false
    const next = await (await session(await another({ lease }))).run('r', { wait: '2s' })
    expect(next.fence).toBeGreaterThan(run.fence)
  })

  test('a handle of a run goes on with nothing once an outcome is unknown: what it saw may not be what is recorded', async () => {
    const another = shared()
    let broken = false
    const store = await another({}, (backend) => ({
      ...backend,
      commit: async (batch) => {
        const outcomes = await backend.commit(batch)
        if (broken) throw new Error('the reply is lost')
        return outcomes
      },
    }))
    const program = async (run: Run, unplug: () => void) => {
      try {
        return await run.effect('charge', () => {
          unplug()
          return 'charged'
        })
      } catch {
        broken = false
        return await run.effect('apologise', () => 'sorry')
      }
    }
    const run = await (await session(store)).run('r')
    await program(run, () => (broken = true)).catch(() => {})
    await run.close()
    // The charge was recorded after all, so there is nothing to be sorry for, then or now.
    const again = await (await session(store)).run('r')
    expect(await program(again, () => {})).toBe('charged')
    expect(await codeOf(again.effect('more', () => 1))).toBe('no error')
  })

  test('a handle of a run that was taken over before it asked for anything hears that, and not that its program has changed', async () => {
    let moved = 0
    const another = shared(() => 1_000_000 + moved)
    const [here, there] = [await another(), await another()]
    const mine = await (await session(here)).run('r')
    moved += 31_000
    const theirs = await (await session(there)).run('r')
    await theirs.effect('one', () => 1)
    expect(await codeOf(mine.effect('another', () => 2))).toBe('FENCE_LOST')
  })
})

describe('a race', () => {
  test('a race leaves what a branch appended that lost, before or after', async () => {
    const store = await inMemory()
    const lost = Promise.withResolvers<void>()
    const race = (run: Run) =>
      run.race({
        early: async (r) => {
          await r.append('plan.changed', 1)
          await r.sleep('1h')
        },
        late: async (r) => {
          await lost.promise
          await r.append('plan.changed', 2)
        },
        winner: async (r) => {
          await r.sleep(10)
          return r.effect('win', () => 'won')
        },
      })
    const run = await (await session(store)).run('r')
    expect(await race(run)).toBe('won')
    lost.resolve()
    await pause(20)
    await run.effect('after', () => 1)
    await run.close()
    expect(await count(store, 'plan.changed')).toBe(1)
    const again = await (await session(store)).run('r')
    expect(await race(again)).toBe('won')
    expect(await again.effect('after', () => 'called')).toBe(1)
    expect(await codeOf(again.effect('more', () => 2))).toBe('no error')
    await again.finish()
  })

  test('a race takes no signal for a branch that has lost', async () => {
    const store = await inMemory()
    const run = await (await session(store)).run('r')
    await run.race({ reply: (r) => r.signal('reply'), timeout: (r) => r.sleep(10) })
    const reply = run.signal('reply', { within: 2000 })
    await pause(20)
    await store.signal('s', 'reply', { text: 'hello' })
    expect(await reply).toEqual({ text: 'hello' })
  })
})

describe('a wait', () => {
  test('a wait for a signal that somebody else took goes on', async () => {
    const store = await inMemory()
    const runs = await Promise.all(['a', 'b', 'c'].map(async (name) => (await session(store)).run(name, { parallel: true })))
    const waiting = runs.map((run) => run.signal<number>('go'))
    await pause(30)
    for (const n of [1, 2, 3]) await store.signal('s', 'go', n)
    expect((await Promise.all(waiting)).sort()).toEqual([1, 2, 3])
    await expectSound(store)
  })

  test('a wait is judged by the clock of the store, also on a node that has written nothing', async () => {
    let moved = 0
    const now = () => 1_000_000 + moved
    const another = shared(now)
    const run = await (await session(await another())).run('r')
    void run.ask('ok?', {}, { within: 5000 }).catch(() => {})
    const behind = await another({ clock: { now: () => 1_000_000 } })
    await expect.poll(async () => (await behind.approvals.list()).items.length).toBe(1)
    await run.close()
    moved = 10_000
    const [item] = (await behind.approvals.list()).items
    expect(await codeOf(behind.approvals.decide(item?.id ?? '', { value: 1 }))).toBe('APPROVAL_CLOSED')
    expect((await behind.approvals.get(item?.id ?? ''))?.state).toBe('expired')
  })

  test('a wait for a person, one of several of a name is told apart by its branch and ordinal', async () => {
    const store = await inMemory()
    const pay = (b: Branch) => b.effect('pay', () => new Promise<string>(() => {}), { ifUnknown: 'ask' })
    const program = (run: Run) => run.all({ a: async (b) => Promise.all([pay(b), pay(b)]), b: pay })
    for (const left of [3, 0]) {
      const run = await (await session(store)).run('r')
      void program(run).catch(() => {})
      if (left > 0) await expect.poll(() => count(store, 'effect.started')).toBe(left)
      else await expect.poll(async () => (await store.runs.get(run.id))?.waits.length).toBe(3)
      await run.close()
    }
    const run = await (await session(store)).run('r')
    const paid = program(run)
    const say = (result: string, more: object) => store.runs.resolve(run.id, 'pay', { result, ...more })
    expect(await codeOf(say('?', {}))).toBe('EFFECT_AMBIGUOUS')
    expect(await codeOf(say('?', { branch: '1.a' }))).toBe('EFFECT_AMBIGUOUS')
    expect(await codeOf(say('?', { branch: '1.c' }))).toBe('EFFECT_UNKNOWN')
    await say('b', { branch: '1.b' })
    await say('second', { branch: '1.a', ordinal: 2 })
    await say('first', {})
    expect([...(await paid)]).toEqual([['first', 'second'], 'b'])
    await run.finish()
    await expectSound(store)
  })

  test('a wait for a person who says how an effect ended is replayed with it, and said once', async () => {
    const store = await inMemory()
    const charge = (run: Run) => run.effect('charge', () => new Promise<number>(() => {}), { ifUnknown: 'ask' })
    const begun = await (await session(store)).run('r')
    void charge(begun).catch(() => {})
    await expect.poll(() => count(store, 'effect.started')).toBe(1)
    await begun.close()
    // Asked twice, by two that were both left before anybody answered.
    for (const _ of [1, 2]) {
      const asking = await (await session(store)).run('r')
      void charge(asking).catch(() => {})
      await expect.poll(async () => (await store.runs.get(asking.id))?.state).toBe('waiting')
      await asking.close()
    }
    await store.runs.resolve(begun.id, 'charge', { result: 5 })
    expect(await codeOf(store.runs.resolve(begun.id, 'charge', { result: 6 }))).toBe('EFFECT_UNKNOWN')
    for (const _ of [1, 2]) {
      const run = await (await session(store)).run('r')
      expect(await charge(run)).toBe(5)
      expect(await run.effect('after', () => 'once')).toBe('once')
      await run.close()
    }
    await expectSound(store)
  })
})

describe('a signal', () => {
  test('a signal that is sent again under its key is sent once, whoever waited for it meanwhile', async () => {
    const store = await inMemory()
    await using _ = store.work({ r: (run: Run) => run.signal('go') })
    const handle = await store.start('r', { session: 's' })
    await expect.poll(handle.state).toBe('waiting')
    const sent = await store.signal('s', 'go', 1, { key: 'k' })
    expect(await handle.result()).toBe(1)
    expect(await store.signal('s', 'go', 1, { key: 'k' })).toEqual(sent)
    expect(await count(store, 'signal.sent')).toBe(1)
  })
})

describe('an outcome that was erased', () => {
  test('an erased outcome is not a reason to do it again', async () => {
    const store = await inMemory()
    const run = await (await session(store)).run('r')
    await run.effect('charge', () => 1)
    const { seq } = await store.head()
    await run.close()
    await store.erase({ seq, reason: 'a request' })
    let called = 0
    const again = await (await session(store)).run('r')
    expect(await codeOf(again.effect('charge', () => ++called))).not.toBe('no error')
    expect(called).toBe(0)
  })
})

describe('a node', () => {
  const blocked = Promise.withResolvers<void>()
  const handler = async (run: Run, input: string) => {
    if (input === 'long') await run.effect('wait', () => blocked.promise)
    return input
  }

  test('a node finds what it can take behind more than it can look at that is held', async () => {
    const store = await inMemory()
    await using _ = store.work({ r: handler }, { concurrency: 2, drain: 1 })
    await store.start('r', { session: 'busy', input: 'long' })
    for (let i = 0; i < 30; i++) await store.start('r', { session: 'busy', input: 'next' })
    expect(await (await store.start('r', { session: 'free', input: 'free' })).result()).toBe('free')
  })

  test('a node that fails a run which kills whoever takes it up wakes the run that waits for it', async () => {
    let moved = 0
    const another = shared(() => 1_000_000 + moved)
    const store = await another()
    await using _ = store.work({ parent: async (run: Run) => (await run.child('poison')).result() }, { drain: 1 })
    const handle = await store.start('parent', { session: 's' })
    await expect.poll(handle.state).toBe('waiting')
    const attempts = async () => (await store.runs.list({ name: 'poison' })).items[0]?.attempt ?? 0
    for (let died = 1; died <= 10; died++) {
      const victim = (await another()).work({ poison: () => new Promise(() => {}) }, { drain: 1 })
      await expect.poll(attempts).toBe(died)
      void victim
      moved += 31_000
    }
    const last = (await another()).work({ poison: () => new Promise(() => {}) }, { drain: 1 })
    expect(await codeOf(handle.result())).toBe('RUN_FAILED')
    void last
  })
})
