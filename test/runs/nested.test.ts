// Effects inside the work of an effect: replay does not call the work, so they are refused before anything happens.

import { describe, expect, test } from 'vitest'
import type { InkError, Run, Store } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const both = engines.filter(({ name }) => name === 'sqlite' || name === 'postgres')

async function typesOf(store: Store, run: Run): Promise<readonly string[]> {
  const types: string[] = []
  for await (const { type } of store.runs.tape(run.id)) if (type.startsWith('effect.')) types.push(type)
  return types
}

describe.each(both)('on $name', (engine) => {
  test('an effect inside the work of another is refused, nothing is recorded, and the corrected program goes on', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const first = await session.run('r')
    const calls: string[] = []
    const inner = () => first.effect('inner', () => void calls.push('inner'))
    const outer = () => {
      calls.push('outer')
      return inner()
    }
    const error: InkError = await first.effect('outer', outer, { retry: { attempts: 5, backoff: 0 } }).then(
      () => expect.unreachable(),
      (thrown) => thrown,
    )
    expect(error).toMatchObject({ code: 'EFFECT_NESTED', details: { effect: 'inner', inside: 'outer' } })
    expect(error.message).toContain("before or after 'outer'")
    // A mistake in the program is not retried.
    expect(calls).toEqual(['outer'])
    expect(await typesOf(store, first)).toEqual([])
    await first.close()
    const second = await session.run('r')
    expect([await second.effect('outer', () => 1), await second.effect('inner', () => 2)]).toEqual([1, 2])
    await second.finish()
    await expectSound(store)
  })

  test('every way to ask for an effect inside the work of another is refused', async () => {
    const store = await engine.open()
    const run = await (await store.session('s')).run('r')
    const [codes] = await run.all({
      a: (branch) =>
        branch.effect('outer', async () => {
          // Also after a pause, and through any handle on the run.
          await new Promise((resolve) => setTimeout(resolve, 1))
          return Promise.all([
            codeOf(branch.effect('inner', () => 1)),
            codeOf(run.effect('inner', () => 1)),
            codeOf(run.begin('inner')),
            codeOf(run.child('kid')),
          ])
        }),
    })
    expect(codes).toEqual(Array.from({ length: 4 }, () => 'EFFECT_NESTED'))
    await run.finish()
    await expectSound(store)
  })

  test('an effect of another run, and one that begins after the work has ended, are not inside it', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const [one, other] = [await session.run('one'), await session.run('other', { parallel: true })]
    const late = Promise.withResolvers<unknown>()
    const go = Promise.withResolvers<void>()
    const said = await one.effect('outer', async () => {
      // What the work leaves behind keeps its context.
      go.promise.then(() => one.effect('late', () => 'late')).then(late.resolve, late.reject)
      return other.effect('theirs', () => 'theirs')
    })
    go.resolve()
    expect([said, await late.promise]).toEqual(['theirs', 'late'])
    await one.finish()
    await other.finish()
    await expectSound(store)
  })
})
