// While a checkpoint is being saved or restored, the run asks for nothing else: such a call would belong to neither epoch.

import { describe, expect, test } from 'vitest'
import type { Run } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

describe.each(engines)('on $name', (engine) => {
  test('a call is refused while a checkpoint is being saved, and nothing is done twice', async () => {
    const store = await engine.open()
    await using node = store.work({ sub: () => 'done' })
    const session = await store.session('s')
    let run = await session.run('r')
    const done: string[] = []
    const pay = (by: Run) => by.effect('pay', ({ key }) => done.push(key))
    // The bytes of the component are stored before the commit, and the calls come in between.
    const bytes = new Uint8Array(1_000_000)
    const saving = run.checkpoint({ bytes, n: 1 })
    const calls: (() => Promise<unknown>)[] = [
      () => pay(run),
      () => run.begin('by hand'),
      () => run.append('plan.changed', {}),
      () => run.sleep(1),
      () => run.child('sub'),
      () => run.usage({ model: 'm', source: 'turn', inputTokens: 1 }),
      () => run.all({ a: async () => 1 }),
      () => run.race({ a: async () => 1 }),
      () => run.canvas('plan').replace({}),
      async () => run.random(),
      () => run.checkpoint({ other: true }),
    ]
    const refusals = Promise.all(calls.map((call) => codeOf(call())))
    const later = (async () => {
      for (let turn = 0; turn < 3; turn++) await undefined
      return codeOf(pay(run))
    })()
    expect(await refusals).toEqual(calls.map(() => 'CHECKPOINT_UNDERWAY'))
    expect(await later).toBe('CHECKPOINT_UNDERWAY')
    expect(await saving).toEqual({ epoch: 1 })
    expect(Object.keys(run.toJSON().checkpoint?.manifest?.components ?? {}).sort()).toEqual(['bytes', 'n'])
    await pay(run)
    await run.close()
    run = await session.run('r')
    expect((await run.restore<{ bytes: Uint8Array }>())?.bytes.length).toBe(bytes.length)
    await pay(run)
    expect(done).toEqual([await store.runs.effectKey(run.id, { branch: '', name: 'pay', ordinal: 1 })])
    await run.finish()
    await node.close()
    await expectSound(store)
  })

  test('a call is refused while a checkpoint is being restored, and nothing is done twice', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    let run = await session.run('r')
    const done: string[] = []
    const pay = (by: Run) => by.effect('pay', ({ key }) => done.push(key))
    await pay(run)
    await run.checkpoint({ n: 1 })
    await run.close()
    run = await session.run('r')
    const restoring = run.restore()
    const calls: (() => Promise<unknown>)[] = [
      () => pay(run),
      () => run.append('plan.changed', {}),
      () => run.sleep(1),
      () => run.all({ a: async () => 1 }),
      async () => run.random(),
      () => run.checkpoint({ other: true }),
    ]
    expect(await Promise.all(calls.map((call) => codeOf(call())))).toEqual(calls.map(() => 'CHECKPOINT_UNDERWAY'))
    expect(await restoring).toEqual({ n: 1 })
    await pay(run)
    await run.close()
    run = await session.run('r')
    expect(await run.restore()).toEqual({ n: 1 })
    await pay(run)
    expect(done).toEqual([
      await store.runs.effectKey(run.id, { branch: '', name: 'pay', ordinal: 1, epoch: 0 }),
      await store.runs.effectKey(run.id, { branch: '', name: 'pay', ordinal: 1, epoch: 1 }),
    ])
    await run.finish()
    await expectSound(store)
  })

  test('a checkpoint that was refused because of an open call is refused again under replay', async () => {
    const store = await engine.open()
    await using node = store.work({ sub: () => 'done' })
    const calls: Readonly<Record<string, (run: Run) => Promise<unknown>>> = {
      effect: (run) => run.effect('slow', () => 1),
      begin: async (run) => {
        const begun = await run.begin('by hand')
        if (!begun.done) await begun.settle(1)
      },
      all: (run) => run.all({ a: (branch) => branch.effect('slow', () => 1) }),
      race: (run) => run.race({ a: (branch) => branch.effect('slow', () => 1), b: (branch) => branch.sleep('1h') }),
      child: async (run) => (await run.child('sub')).result(),
    }
    for (const [kind, call] of Object.entries(calls)) {
      const program = async (run: Run) => {
        const open = call(run)
        const refused = await codeOf(run.checkpoint({ n: 1 }))
        await open
        await run.effect('after', () => 1)
        return [refused, await run.checkpoint({ n: 2 })]
      }
      const session = await store.session(kind)
      for (const life of [1, 2]) {
        const run = await session.run('r')
        expect(await program(run), `${kind}, life ${life}`).toEqual(['CHECKPOINT_BUSY', { epoch: 1 }])
        await run.close()
      }
    }
    await node.close()
    await expectSound(store)
  })

  test('a checkpoint that is refused leaves the run free to go on', async () => {
    const store = await engine.open()
    const run = await (await store.session('s')).run('r')
    expect(await codeOf(run.checkpoint({ '': 1 }))).toBe('RUN_NAME_INVALID')
    const begun = await run.begin('by hand')
    expect(await codeOf(run.checkpoint({}))).toBe('CHECKPOINT_BUSY')
    if (!begun.done) await begun.settle(1)
    expect(await run.checkpoint({})).toEqual({ epoch: 1 })
    await run.finish()
    await expectSound(store)
  })

  test('a branch that lost a race saves no checkpoint, and its calls wait for ever, as always', async () => {
    const store = await engine.open()
    const run = await (await store.session('s')).run('r')
    const lost = Promise.withResolvers<void>()
    const outcomes: string[] = []
    const told = (what: string) => () => void outcomes.push(what)
    await run.race({
      slow: async (branch) => {
        await lost.promise
        run.checkpoint({ by: 'the loser' }).then(told('saved'), told('refused'))
        const saving = run.checkpoint({ by: 'the loser' })
        branch.effect('late', () => 1).then(told('asked'), told('refused'))
        await saving
      },
      fast: (branch) => branch.effect('fast', () => 'won'),
    })
    const saving = run.checkpoint({ by: 'the run' })
    lost.resolve()
    expect(await saving).toEqual({ epoch: 1 })
    await run.effect('after', () => 1)
    expect(outcomes).toEqual([])
    expect(await run.checkpoint({ by: 'the run' })).toEqual({ epoch: 2 })
    await run.finish()
    await expectSound(store)
  })
})
