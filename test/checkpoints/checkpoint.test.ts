// Checkpoints of runs: replay starts after the newest one, and nothing repeats across the epochs that they begin.

import { describe, expect, test } from 'vitest'
import type { Run, Store } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

/** Closes the run, as a crash would leave it, and takes it up again. */
async function again(store: Store, run: Run): Promise<Run> {
  await run.close()
  return (await store.session('s')).run('r')
}

const start = async (store: Store): Promise<Run> => (await store.session('s')).run('r')

describe.each(engines)('on $name', (engine) => {
  test('a program that restores continues after its newest checkpoint', async () => {
    const store = await engine.open()
    const done: string[] = []
    const program = async (run: Run, upTo: number) => {
      const last = await run.restore<{ step: number }>()
      for (let step = last?.step ?? 0; step < upTo; step++) {
        await run.effect('work', () => done.push(`work ${step}`))
        await run.checkpoint({ step: step + 1 }, { turn: step, options: { deep: true } })
      }
      return last
    }
    let run = await start(store)
    expect(await program(run, 2)).toBeUndefined()
    expect(run.turnState).toBeUndefined()
    run = await again(store, run)
    expect(await program(run, 4)).toEqual({ step: 2 })
    expect(run.turnState).toEqual({ turn: 1, options: { deep: true } })
    expect(done).toEqual(['work 0', 'work 1', 'work 2', 'work 3'])
    expect(run.toJSON().checkpoint).toMatchObject({ epoch: 4, manifest: { components: { step: { revision: 4 } } } })
    await run.finish()
    await expectSound(store)
  })

  test('replay asks only for what came after the checkpoint', async () => {
    const store = await engine.open()
    let run = await start(store)
    expect(await run.restore()).toBeUndefined()
    for (let i = 0; i < 5; i++) await run.effect(`before ${i}`, () => i)
    await run.checkpoint({ i: 5 })
    expect(await run.effect('after', () => 'first')).toBe('first')
    run = await again(store, run)
    expect(await run.restore()).toEqual({ i: 5 })
    expect(await run.effect('after', () => 'second')).toBe('first')
    expect(await run.effect('new', () => 'new')).toBe('new')
    await run.finish()
    await expectSound(store)
  })

  test('a program that does not restore replays through its checkpoints, with the same epochs', async () => {
    const store = await engine.open()
    const keys: string[] = []
    const program = async (run: Run) => {
      const drawn: number[] = []
      for (let i = 0; i < 3; i++) {
        await run.effect('pay', ({ key }) => keys.push(key))
        drawn.push(run.random())
        await run.checkpoint({ i })
      }
      return drawn
    }
    let run = await start(store)
    const drawn = await program(run)
    const { now } = run
    const told = now()
    run = await again(store, run)
    expect(await program(run)).toEqual(drawn)
    expect(run.now()).toBe(told)
    expect(keys).toHaveLength(3)
    await run.finish()
    await expectSound(store)
  })

  test('keys, children, appends and random draws do not repeat across epochs', async () => {
    const store = await engine.open()
    await using node = store.work({ sub: (_: Run, input: unknown) => input })
    const epoch = async (run: Run, n: number) => {
      const key = await run.effect('pay', (context) => context.key)
      const [branchKey] = await run.all({ left: (branch) => branch.effect('pay', (context) => context.key) })
      const child = await run.child('sub', { input: n })
      expect(await child.result()).toBe(n)
      const receipt = await run.append('plan.changed', { n })
      return { key, branchKey, child: child.id, seq: receipt.seq, random: run.random(), now: run.now() }
    }
    let run = await start(store)
    const first = await epoch(run, 1)
    await run.checkpoint({ n: 1 })
    const second = await epoch(run, 2)
    run = await again(store, run)
    expect(await run.restore()).toEqual({ n: 1 })
    expect(await epoch(run, 2)).toEqual(second)
    for (const member of ['key', 'branchKey', 'child', 'seq', 'random'] as const) expect(second[member]).not.toBe(first[member])
    expect(second.now).toBeGreaterThanOrEqual(first.now)
    const slot = { branch: '', name: 'pay', ordinal: 1 }
    expect(await store.runs.effectKey(run.id, slot)).toBe(second.key)
    expect(await store.runs.effectKey(run.id, { ...slot, epoch: 0 })).toBe(first.key)
    expect(await store.runs.effectKey(run.id, { ...slot, branch: '1.left', epoch: 1 })).toBe(second.branchKey)
    expect(await codeOf(store.runs.effectKey(run.id, { ...slot, epoch: -1 }))).toBe('OPTION_INVALID')
    await run.finish()
    await node.close()
    await expectSound(store)
  })

  test('restore() is refused anywhere but first', async () => {
    const store = await engine.open()
    const run = await start(store)
    run.now()
    await run.restore()
    expect(await codeOf(run.restore())).toBe('RESTORE_LATE')
    const other = await (await store.session('other')).run('r')
    await other.effect('one', () => 1)
    expect(await codeOf(other.restore())).toBe('RESTORE_LATE')
    const third = await (await store.session('third')).run('r')
    third.random()
    expect(await codeOf(third.restore())).toBe('RESTORE_LATE')
    await Promise.all([run, other, third].map((one) => one.finish()))
    await expectSound(store)
  })

  test('a checkpoint is refused while a call has no answer, and the run goes on', async () => {
    const store = await engine.open()
    await using node = store.work({ sub: () => 'done' })
    const run = await start(store)
    const gate = Promise.withResolvers<string>()
    const refused = async () => {
      const error = await run.checkpoint({ n: 1 }).then(
        () => undefined,
        (thrown: { code: string; details: { open: string } }) => thrown,
      )
      expect(error?.code).toBe('CHECKPOINT_BUSY')
      return error?.details.open
    }
    const slow = run.effect('slow', () => gate.promise)
    expect(await refused()).toBe("effect 'slow'")
    gate.resolve('at last')
    await slow
    const begun = await run.begin('by hand')
    expect(await refused()).toBe("effect 'by hand'")
    if (!begun.done) await begun.settle(1)
    const child = await run.child('sub')
    expect(await refused()).toBe("the result of child 'sub'")
    await child.result()
    const branch = Promise.withResolvers<void>()
    const group = run.all({ a: () => branch.promise })
    expect(await refused()).toBe('all()')
    branch.resolve()
    await group
    // A branch that lost a race is no longer asked for.
    expect(await run.race({ fast: (b) => b.effect('fast', () => 'won'), slow: (b) => b.sleep('1h') })).toBe('won')
    expect(await run.checkpoint({ n: 1 })).toEqual({ epoch: 1 })
    expect(run.toJSON().waits).toEqual([])
    await run.finish()
    await node.close()
    await expectSound(store)
  })

  test('branches and races of a later epoch are not taken for those of an earlier one', async () => {
    const store = await engine.open()
    const race = (run: Run) => run.race({ fast: (b) => b.effect('fast', () => 'won'), slow: (b) => b.sleep('1h') })
    const program = async (run: Run) => {
      const won = await race(run)
      const both = await run.all({ slow: (b) => b.effect('s', () => 's'), fast: (b) => b.effect('f', () => 'f') })
      return [won, ...both]
    }
    let run = await start(store)
    expect(await program(run)).toEqual(['won', 's', 'f'])
    await run.checkpoint({})
    expect(await run.all({ slow: (b) => b.effect('s', () => 's2'), fast: (b) => b.effect('f', () => 'f2') })).toEqual(
      expect.objectContaining({ slow: 's2', fast: 'f2' }),
    )
    run = await again(store, run)
    expect(await run.restore()).toEqual({})
    expect(await run.all({ slow: (b) => b.effect('s', () => 'x'), fast: (b) => b.effect('f', () => 'x') })).toEqual(
      expect.objectContaining({ slow: 's2', fast: 'f2' }),
    )
    await run.finish()
    await expectSound(store)
  })

  test('unchanged components cost one reference, absent ones are dropped, bytes come back as bytes', async () => {
    const store = await engine.open()
    let run = await start(store)
    const toolState = { rows: Array.from({ length: 500 }, (_, i) => ({ i, text: `row ${i}` })) }
    await run.checkpoint({ toolState, plugin: new Uint8Array([1, 2, 3]), gone: 1 })
    const first = run.toJSON().checkpoint?.manifest?.components
    await run.checkpoint({ toolState, plugin: new Uint8Array([1, 2, 4]) })
    const second = run.toJSON().checkpoint?.manifest?.components
    expect(second?.toolState).toEqual(first?.toolState)
    expect(second?.plugin).toMatchObject({ revision: 2, bytes: 3, kind: 'plugin-snapshot' })
    run = await again(store, run)
    expect(await run.restore()).toEqual({ toolState, plugin: new Uint8Array([1, 2, 4]) })
    await run.finish()
    await expectSound(store)
  })

  test('a component with a name that is no name, or content that is no JSON, is refused and nothing is written', async () => {
    const store = await engine.open()
    const run = await start(store)
    const { seq } = await store.head()
    expect(await codeOf(run.checkpoint({ '': 1 }))).toBe('RUN_NAME_INVALID')
    expect(await codeOf(run.checkpoint({ tool: () => 1 }))).toBe('DATA_INVALID')
    expect(await codeOf(run.checkpoint({ tool: 1 }, { turn: -1 }))).toBe('OPTION_INVALID')
    expect(await codeOf(run.checkpoint({ tool: 1 }, { trun: 1 } as never))).toBe('OPTION_INVALID')
    expect(await codeOf(run.checkpoint({ tool: 1 }, null as never))).toBe('OPTION_INVALID')
    // Nothing given would drop every component.
    expect(await codeOf(run.checkpoint(undefined as never))).toBe('OPTION_INVALID')
    expect((await store.head()).seq).toBe(seq)
    expect(await run.checkpoint({ tool: 1 })).toEqual({ epoch: 1 })
    await run.finish()
    await expectSound(store)
  })

  test('an archived session takes no checkpoint, and nothing is written', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('r')
    await session.archive()
    const { seq } = await store.head()
    expect(await codeOf(run.checkpoint({ n: 1 }))).toBe('SESSION_ARCHIVED')
    expect((await store.head()).seq).toBe(seq)
    await session.reopen()
    expect(await run.checkpoint({ n: 1 })).toEqual({ epoch: 1 })
    await run.finish()
    await expectSound(store)
  })

  test('strict replay passes the checkpoints of a finished run', async () => {
    const store = await engine.open()
    const program = async (run: Run) => {
      const last = await run.restore<{ n: number }>()
      for (let n = last?.n ?? 0; n < 3; n++) {
        await run.effect('pay', () => n)
        if (n < 2) await run.checkpoint({ n: n + 1 })
      }
    }
    const run = await start(store)
    await program(run)
    await run.finish()
    const strict = await (await store.session('s')).run('r', { replay: 'strict' })
    await program(strict)
    await strict.finish()
    const without = await (await store.session('s')).run('r', { replay: 'strict' })
    for (let n = 0; n < 2; n++) {
      expect(await without.effect('pay', () => 'not called')).toBe(n)
      await without.checkpoint({ other: n })
    }
    expect(await codeOf(without.checkpoint({ other: 1 }))).toBe('REPLAY_MISSING')
    await expectSound(store)
  })

  test('an effect with an unknown outcome is resolved in its epoch', async () => {
    const store = await engine.open()
    await (await store.session('s')).append('note.made', 1)
    let run = await start(store)
    await run.effect('pay', () => 1, { ifUnknown: 'ask' })
    await run.checkpoint({ n: 1 })
    const dies = run.effect('pay', () => new Promise(() => {}), { ifUnknown: 'ask' })
    dies.catch(() => {})
    await expect.poll(async () => (await store.page({ backwards: true, limit: 1 })).items[0]?.type).toBe('effect.started')
    run = await again(store, run)
    await run.restore()
    const paid = run.effect('pay', () => 'never called', { ifUnknown: 'ask' })
    await expect.poll(async () => (await store.runs.get(run.id))?.waits).toMatchObject([{ kind: 'unknown', epoch: 1 }])
    expect(await codeOf(store.runs.resolve(run.id, 'pay', { result: 2, epoch: 0 }))).toBe('EFFECT_UNKNOWN')
    await store.runs.resolve(run.id, 'pay', { result: 2 })
    expect(await paid).toBe(2)
    await run.finish()
    await expectSound(store)
  })

  test('a checkpoint whose event was erased cannot be restored, and says so', async () => {
    const store = await engine.open()
    let run = await start(store)
    await run.checkpoint({ n: 1 })
    const { seq } = await store.head()
    await store.erase({ seq, reason: 'asked for' })
    run = await again(store, run)
    expect(run.toJSON().checkpoint).toMatchObject({ epoch: 1 })
    expect(await codeOf(run.restore())).toBe('CHECKPOINT_UNREADABLE')
    await run.fail(new Error('gone'))
    await expectSound(store)
  })
})
