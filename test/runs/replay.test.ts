// Replay: whatever the scheduling was, a program gets the same answers; one that has changed is stopped before it does anything.

import { describe, expect, test } from 'vitest'
import { chance } from '../../src/conformance/chance.ts'
import type { Branch, Run } from '../../src/index.ts'
import { engines, expectSound } from '../support/engines.ts'
import { rounds, seeds } from '../support/rounds.ts'
import { CHANGED, diverges } from './changed-programs.ts'

const both = engines.filter(({ name }) => name === 'sqlite' || name === 'postgres')
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** A program grown from a seed: branches in branches, each of which asks for this and that. Only `delay` differs from one time to the next. */
async function grown(branch: Branch, seed: number, depth: number, delay: () => number, done: (what: string) => void): Promise<unknown> {
  const { int } = chance(seed)
  const told: unknown[] = []
  for (let i = 0, steps = 2 + int(3); i < steps; i++) {
    const what = `${seed}.${i}`
    const kind = int(depth > 0 ? 7 : 4)
    if (kind === 1) await branch.usage({ model: 'm', inputTokens: 1 + int(9) })
    else if (kind === 2) await branch.append('step.noted', { what })
    else if (kind === 3) await branch.sleep(int(3))
    else if (kind >= 4) {
      const inner = (n: number) => (r: Branch) => grown(r, seed * 31 + i * 7 + n, depth - 1, delay, done)
      told.push([...(await branch.all({ a: inner(1), b: inner(2), c: inner(3) }))])
    }
    // The same name everywhere: branch and ordinal are what tells them apart.
    told.push(
      await branch.effect('step', async () => {
        await pause(delay())
        done(what)
        return what
      }),
    )
    told.push(branch.now(), branch.random())
  }
  return told
}

describe.each(both)('on $name', (engine) => {
  test('branches replay to the same answers however they are scheduled, and go on where they stopped', async () => {
    const store = await engine.open()
    const wrong: string[] = []
    let again = 0
    await Promise.all(
      (engine.name === 'sqlite' ? seeds(6, 96) : seeds(6, 40)).map(async (seed) => {
        const session = await store.session(`s${seed}`)
        const often = new Map<string, number>()
        const note = (what: string) => void often.set(what, (often.get(what) ?? 0) + 1)
        const { int } = chance(seed * 1009)
        // It is left in the middle, twice, with effects underway that come to nothing.
        for (const left of [8 + int(8), 16 + int(8)]) {
          const run = await session.run('grown')
          const partly = grown(run, seed, 2, () => int(6), note)
          await Promise.race([partly.catch(() => {}), pause(left)])
          await run.close()
          await partly.catch(() => {})
        }
        const run = await session.run('grown')
        const told = await grown(run, seed, 2, () => int(6), note)
        await run.close()
        const last = await session.run('grown')
        const called: string[] = []
        const repeated = await grown(
          last,
          seed,
          2,
          () => 5 - int(6),
          (what) => called.push(what),
        )
        await last.finish()
        if (JSON.stringify(told) !== JSON.stringify(repeated)) wrong.push(`seed ${seed}: other answers`)
        if (called.length > 0) wrong.push(`seed ${seed}: called ${called}`)
        // Left three times at most, so done three times at most.
        if ([...often.values()].some((times) => times > 3)) wrong.push(`seed ${seed}: done too often`)
        again += [...often.values()].filter((times) => times > 1).length
      }),
    )
    expect(wrong).toEqual([])
    // They were left in the middle of something.
    expect(again).toBeGreaterThan(rounds(0, 3))
    await expectSound(store)
  })

  test('without branches, what is asked for at once is told apart by nothing: the control for the above', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const program = (run: Run, delays: readonly number[]) =>
      Promise.all(
        delays.map(async (ms, i) => {
          await pause(ms)
          return run.effect('step', () => i)
        }),
      )
    const first = await session.run('r')
    const told = await program(first, [1, 30])
    await first.close()
    expect(await program(await session.run('r'), [30, 1])).not.toEqual(told)
  })

  test('a program that has changed is stopped: nothing is called, nothing is written', async () => {
    const store = await engine.open()
    const wrong = await Promise.all(Object.entries(CHANGED).map(([why, changed]) => diverges(store, why, changed)))
    expect(wrong.flat()).toEqual([])
    await expectSound(store)
  })

  test('a long tape is kept in segments and replayed to its end; a fork reads its parent’s part of it', async () => {
    const store = await engine.open({ durability: 'normal' })
    const session = await store.session('s')
    const EFFECTS = 2500
    const work = async (run: Run, from: number, to: number, done: (i: number) => void) => {
      for (let i = from; i < to; i++)
        await run.effect(`step ${i % 10}`, () => {
          done(i)
          return i
        })
    }
    const calls: number[] = []
    const first = await session.run('long')
    await work(first, 0, 1100, (i) => calls.push(i))
    await first.close()
    const { seq: at } = await store.head()
    const second = await session.run('long')
    await work(second, 0, EFFECTS, (i) => calls.push(i))
    await second.close()
    expect(calls).toEqual(Array.from({ length: EFFECTS }, (_, i) => i))
    const sealed: unknown[] = []
    for await (const { data } of store.events({ types: ['tape.sealed'] })) sealed.push(data)
    expect(sealed).toEqual([
      { segment: 1, entries: 1024 },
      { segment: 2, entries: 1024 },
    ])

    const third = await session.run('long')
    await work(third, 0, EFFECTS, (i) => calls.push(i))
    expect(await third.effect('one more', () => 'new')).toBe('new')
    expect(third.toJSON().segments).toBe(2)
    const fork = await third.fork({ at })
    const anew: number[] = []
    await work(fork, 0, 1105, (i) => anew.push(i))
    expect(anew).toEqual([1100, 1101, 1102, 1103, 1104])
    const { seq } = await store.head()
    const twice = await fork.fork({ at: seq })
    await work(twice, 0, 1107, (i) => anew.push(i))
    expect(anew).toEqual([1100, 1101, 1102, 1103, 1104, 1105, 1106])
    const seen: string[] = []
    for await (const { type } of twice.tape()) if (type === 'effect.settled') seen.push(type)
    expect(seen).toHaveLength(1107)
    await third.finish()
    expect(calls).toHaveLength(EFFECTS)
    await expectSound(store)
  })
})

test('recorded effects may be asked for in another order: they are answered and not called', async () => {
  const store = await (both[0] as (typeof both)[0]).open()
  const session = await store.session('s')
  const first = await session.run('r')
  await first.effect('one', () => 1)
  await first.effect('two', () => 2)
  await first.close()
  const run = await session.run('r')
  expect([await run.effect('two', () => 'called'), await run.effect('one', () => 'called')]).toEqual([2, 1])
  await run.finish()
})

test('a node halts a run that no longer fits its program, and the right program goes on with it', async () => {
  const store = await (both[0] as (typeof both)[0]).open()
  const called: string[] = []
  const stops = async (run: Run) => {
    await run.effect('one', () => called.push('one'))
    await run.signal('go')
    await run.effect('two', () => called.push('two'))
    return 'right'
  }
  const handle = await (async () => {
    await using _ = store.work({ r: stops })
    const started = await store.start('r', { session: 's' })
    await expect.poll(started.state).toBe('waiting')
    return started
  })()
  {
    await using _ = store.work({
      r: async (run: Run) => {
        await run.effect('another', () => called.push('another'))
        return 'wrong'
      },
    })
    await store.signal('s', 'go')
    await expect.poll(async () => (await store.runs.get(handle.id))?.error?.code).toBe('REPLAY_DIVERGED')
  }
  expect(await handle.state()).toBe('waiting')
  expect(called).toEqual(['one'])
  await using _ = store.work({ r: stops })
  await store.runs.wake(handle.id)
  expect(await handle.result()).toBe('right')
  expect(called).toEqual(['one', 'two'])
  await expectSound(store)
})
