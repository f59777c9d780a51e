// Branches of a run beside each other: what one of them does takes nothing from the others, and who waits is who asked.

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Branch, Event, Run, Store } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const both = engines.filter(({ name }) => name === 'sqlite' || name === 'postgres')

async function eventsOf(store: Store, query: Parameters<Store['events']>[0]): Promise<readonly Event[]> {
  const found: Event[] = []
  for await (const event of store.events(query)) found.push(event)
  return found
}

const branches = <T>(count: number, work: (branch: Branch, n: number) => Promise<T>) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`b${n}`, (branch: Branch) => work(branch, n)]))

describe.each(both)('on $name', (engine) => {
  test('forty branches that sleep, call and count their usage do each thing once', async () => {
    const store = await engine.open()
    const calls: string[] = []
    await using node = store.work({
      fan: async (run: Run) => {
        await run.all(
          branches(40, async (branch, n) => {
            await branch.sleep(20)
            for (const step of ['a', 'b']) {
              await branch.effect(step, () => void calls.push(`${n}${step}`))
              await branch.usage({ model: 'm', inputTokens: 1 })
            }
          }),
        )
      },
    })
    const handle = await store.start('fan', { session: 's' })
    await handle.result()
    expect(calls).toHaveLength(80)
    expect(new Set(calls).size).toBe(80)
    expect(await store.runs.get(handle.id)).toMatchObject({ attempt: 1, usage: [{ inputTokens: 80 }] })
    await node.close()
    await expectSound(store)
  })

  test('a child is waited for by the branch that asks for its result', async () => {
    const store = await engine.open()
    const held = Promise.withResolvers<void>()
    // One place: a parent that kept it while it waits would wait for ever.
    await using node = store.work(
      {
        kid: (run: Run, n: number) => run.effect('work', async () => (n === 9 ? await held.promise : n)),
        parent: async (run: Run) => {
          const kids = await Promise.all([1, 2].map((input) => run.child('kid', { input })))
          const [a, b] = await run.all({ a: () => kids[0]?.result(), b: () => kids[1]?.result() })
          const first = await run.race({ kid: () => kids[0]?.result(), late: (branch) => branch.sleep('1h') })
          return [a, b, first]
        },
        patient: async (run: Run) => {
          const kid = await run.child('kid', { input: 9 })
          const won = await run.race({ kid: () => kid.result(), late: (branch) => branch.sleep(30).then(() => 'late') })
          await run.signal('on')
          return won
        },
      },
      { concurrency: 1 },
    )
    expect(await (await store.start('parent', { session: 's' })).result()).toEqual([1, 2, 1])
    // The time was over first: what the child comes to is not waited for any more, and replay knows that.
    await using more = store.work({ kid: (run: Run) => run.effect('work', () => held.promise) })
    const patient = await store.start('patient', { session: 't' })
    await expect.poll(async () => (await store.runs.get(patient.id))?.waits.map(({ kind }) => kind)).toEqual(['signal'])
    await store.signal('t', 'on')
    expect(await patient.result()).toBe('late')
    held.resolve()
    await Promise.all([node.close(), more.close()])
    await expectSound(store)
  })

  test('a branch that lost a race does nothing more: not after its rest, and not as one that works', async () => {
    const store = await engine.open()
    let calls = 0
    await using node = store.work({
      r: async (run: Run) => {
        await run.race({
          pay: (branch) =>
            branch.effect(
              'pay',
              () => {
                calls++
                throw new Error('busy')
              },
              { retry: { attempts: 5, backoff: 60 }, ifUnknown: 'ask' },
            ),
          own: async (branch) => {
            await branch.begin('own')
            return new Promise(() => {})
          },
          late: (branch) => branch.sleep(20),
        })
        await run.signal('on')
      },
    })
    const handle = await store.start('r', { session: 's' })
    // Nothing in it works any more, so it is given back.
    await expect.poll(() => node.stats().parked).toBe(1)
    await sleep(150)
    const [before] = [calls]
    await sleep(150)
    expect(calls).toBe(before)
    const tape = (await eventsOf(store, { run: handle.id })).map(({ type }) => type)
    expect(tape.slice(tape.indexOf('race.won')).filter((type) => type.startsWith('effect.'))).toEqual([])
    await store.signal('s', 'on')
    await handle.result()
    await expectSound(store)
  })

  test('an event that a branch appended before a crash is not appended again, though another lost a race before', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const program = (hangs: boolean) => async (run: Run) => {
      await run.race({ quick: (b) => b.effect('quick', () => 1), slow: (b) => b.sleep('1h') })
      const times: number[] = []
      await run.all({
        slow: (b) => b.effect('slow', () => (hangs ? new Promise(() => {}) : 1)),
        other: async (b) => {
          await b.effect('x', () => 1)
          await b.append('plan.changed', { n: 1 })
          times.push(b.now())
        },
      })
      return times
    }
    const first = await session.run('r')
    program(true)(first).catch(() => {})
    const appended = () => eventsOf(store, { types: ['plan.changed'] })
    await expect.poll(async () => (await appended()).length).toBe(1)
    const at = (await appended())[0]?.at
    await first.close()
    const second = await session.run('r')
    expect(await program(false)(second)).toEqual([at])
    await second.finish()
    expect(await appended()).toHaveLength(1)
    await expectSound(store)
  })

  test('a call between begin and settle is found again after a crash there', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const program = async (run: Run, dies: boolean) => {
      const call = await run.begin<string>('call model')
      await run.usage({ model: 'm', inputTokens: 5 })
      await run.append('plan.changed', {})
      if (call.done) return call.result
      return dies ? call.key : [call.key, await call.settle('answer')]
    }
    const first = await session.run('r')
    const key = await program(first, true)
    await first.close()
    const second = await session.run('r')
    expect(await program(second, false)).toEqual([key, 'answer'])
    expect(second.ledger).toMatchObject([{ inputTokens: 5 }])
    await second.close()
    const third = await session.run('r')
    expect(await program(third, false)).toBe('answer')
    await third.finish()
    await expectSound(store)
  })

  test('a fork from in between asks for what was begun, and goes on with it', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const program = async (run: Run) => {
      const call = await run.begin<string>('call model')
      const said = await run.effect('beside', () => 'beside')
      return [said, call.done ? call.result : await call.settle('answer')]
    }
    const run = await session.run('r')
    await program(run)
    await run.finish()
    for (const { seq: at, type } of await eventsOf(store, { run: run.id })) {
      if (!type.startsWith('effect.')) continue
      const fork = await run.fork({ at })
      expect([at, await program(fork)]).toEqual([at, ['beside', 'answer']])
      await fork.finish()
    }
    await expectSound(store)
  })

  test('an entry recorded during a settle knows which effects had begun', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    // Large enough for a blob, which is written first.
    const large = 'x'.repeat(100_000)
    const program = async (run: Run, dies: boolean) => {
      const call = await run.begin<string>('call model')
      const settling = call.done ? undefined : call.settle(large)
      settling?.catch(() => {})
      await run.effect('beside', () => 1)
      if (!dies) return call.done ? call.result : await settling
    }
    const first = await session.run('r')
    await program(first, true)
    await first.close()
    const second = await session.run('r')
    expect(await program(second, false)).toBe(large)
    await second.finish()
    await expectSound(store)
  })

  test('a run waits for calls that a returned branch did not await', async () => {
    const store = await engine.open()
    await using node = store.work(
      {
        kid: () => 'kid',
        parent: async (run: Run) => {
          const kid = await run.child('kid')
          let late: Promise<unknown> | undefined
          await run.all({
            a: async (b) => {
              late = b.effect('x', () => 1).then(() => kid.result())
            },
          })
          return await late
        },
      },
      { concurrency: 1 },
    )
    expect(await (await store.start('parent', { session: 's' })).result()).toBe('kid')
    await node.close()
    await expectSound(store)
  })

  test('settled with nothing in between, what was begun is one event', async () => {
    const store = await engine.open()
    const run = await (await store.session('s')).run('r')
    const call = await run.begin('call')
    if (!call.done) await call.settle(1)
    expect((await eventsOf(store, { run: run.id })).map(({ type }) => type).filter((type) => type.startsWith('effect.'))).toEqual([
      'effect.settled',
    ])
    await run.finish()
  })

  test('two handles on one run have one winner', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const [one, two] = [await session.run('r'), await session.run('r')]
    const race = (run: Run, quick: string) =>
      run.race({
        a: async (b) => b.effect('a', () => sleep(quick === 'a' ? 0 : 40).then(() => 'a')),
        b: async (b) => b.effect('b', () => sleep(quick === 'b' ? 0 : 40).then(() => 'b')),
      })
    const [first, second] = await Promise.all([race(one, 'a'), race(two, 'b')])
    expect(first).toBe(second)
    expect(await eventsOf(store, { types: ['race.won'] })).toHaveLength(1)
    await one.finish()
    await expectSound(store)
  })

  test('names that mean a place in a list are refused, and nothing has begun then', async () => {
    const store = await engine.open()
    await using node = store.work({
      r: async (run: Run) => {
        const one = async () => 1
        const codes = []
        for (const names of [{ 10: one, 20: one }, { length: one }, { a: one, '\0': one }, { a: one, b: 1 as unknown as typeof one }])
          codes.push(await codeOf(run.all(names)))
        expect(codes).toEqual(['OPTION_INVALID', 'OPTION_INVALID', 'RUN_NAME_INVALID', 'OPTION_INVALID'])
        expect([...(await run.all({ 0: one, 1: one, map: one }))]).toEqual([1, 1, 1])
        await run.signal('on')
      },
    })
    const handle = await store.start('r', { session: 's' })
    // It can be given back: no branch of those that were refused is underway.
    await expect.poll(() => node.stats().parked).toBe(1)
    await store.signal('s', 'on')
    await handle.result()
  })
})
