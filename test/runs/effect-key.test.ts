// The idempotency key of an effect, as its work receives it and as others compute it.

import { describe, expect, test } from 'vitest'
import type { Branch } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

describe.each(engines)('on $name', (engine) => {
  test('effectKey returns the key that the work of the effect received', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('r')
    const key = (branch: Branch, name: string) => branch.effect(name, (context) => context.key)
    const first = await key(run, 'pay')
    const second = await key(run, 'pay')
    const { left } = await run.all({ left: (branch) => key(branch, 'pay') })
    const secret = await key(run, 'pay with password=hunter2-hunter2')
    const begun = await run.begin('by hand')
    if (!begun.done) await begun.settle(1)
    const keyOf = (branch: string, name: string, ordinal: number) => store.runs.effectKey(run.id, { branch, name, ordinal })
    expect(await keyOf('', 'pay', 1)).toBe(first)
    expect(await keyOf('', 'pay', 2)).toBe(second)
    expect(await keyOf('1.left', 'pay', 1)).toBe(left)
    expect(await keyOf('', 'pay with password=hunter2-hunter2', 1)).toBe(secret)
    expect(await keyOf('', 'by hand', 1)).toBe(begun.done ? '' : begun.key)
    expect(new Set([first, second, left, secret]).size).toBe(4)

    const fork = await run.fork({ at: (await store.head()).seq })
    expect(await store.runs.effectKey(fork.id, { branch: '', name: 'pay', ordinal: 1 })).not.toBe(first)
    for await (const { type, data } of run.tape()) {
      if (type !== 'effect.settled') continue
      const { branch, name, ordinal, result } = data as { branch: string; name: string; ordinal: number; result: { value: unknown } }
      if (name !== 'by hand') expect(await keyOf(branch, name, ordinal)).toBe(result.value)
    }
    await run.finish()
    expect(await keyOf('', 'pay', 1)).toBe(first)
    await expectSound(store)
  })

  test('effectKey refuses what names no effect', async () => {
    const store = await engine.open()
    const run = await (await store.session('s')).run('r')
    const slot = { branch: '', name: 'pay', ordinal: 1 }
    expect(await codeOf(store.runs.effectKey(run.id, { ...slot, ordinal: 0 }))).toBe('OPTION_INVALID')
    expect(await codeOf(store.runs.effectKey(run.id, { ...slot, branch: undefined as never }))).toBe('OPTION_INVALID')
    expect(await codeOf(store.runs.effectKey(run.id, { ...slot, name: '' }))).toBe('RUN_NAME_INVALID')
    expect(await codeOf(store.runs.effectKey('01K1Y2Z3A4B5C6D7E8F9G0H1J2', slot))).toBe('RUN_UNKNOWN')
  })
})
