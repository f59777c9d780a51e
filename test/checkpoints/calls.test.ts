// Every kind of call belongs to the epoch in which it was made: replay finds it there, with and without restoring the checkpoint.

import { describe, expect, test } from 'vitest'
import type { Run, Session, Store } from '../../src/index.ts'
import { engines, expectSound } from '../support/engines.ts'

const calls: Readonly<Record<string, (run: Run, session: Session, n: number, store: Store) => Promise<unknown>>> = {
  canvas: async (run, _, n) => [
    await run.canvas('plan').patch([{ op: 'add', path: `/step${n}`, value: n }]),
    await run.canvas('plan').get(),
    await run.canvas('other').replace({ n }),
  ],
  inputs: async (run, session, n) => {
    await run.effect('offer', () => session.input(`input ${n}`, { key: `m-${n}`, turn: 'active' }).then(() => true))
    return run.inputs()
  },
  inbox: async (run, session, n) => {
    await run.effect('offer', () => session.inbox.offer({ n }, { kind: 'turn', delivery: 'boundary' }).then(() => true))
    const { claim, batches } = await run.inbox({ at: 'boundary' })
    if (claim) await run.inboxDone(claim)
    return batches.map(({ payload }) => payload)
  },
  signal: async (run, _, n, store) => {
    await run.effect('send', () => store.signal('s', 'go', { n }).then(() => true))
    return run.signal('go')
  },
  remember: async (run, _, n) => run.remember(`step ${n}`, { about: 'user/ada' }),
  recall: async (run, _, n) => (await run.recall(`what is ${n}?`)).length,
}

describe.each(engines)('on $name', (engine) => {
  test.each(Object.keys(calls))('%s: a call after a checkpoint is found again, and not taken for the one before', async (kind) => {
    const store = await engine.open()
    const session = await store.session('s')
    const program = async (run: Run, restores: boolean) => {
      const last = restores ? await run.restore<{ n: number; seen: readonly unknown[] }>() : undefined
      let { n, seen } = last ?? { n: 0, seen: [] }
      while (n < 3) {
        seen = [...seen, await (calls[kind] as (typeof calls)[string])(run, session, n, store)]
        n++
        if (n < 3) await run.checkpoint({ n, seen })
      }
      return seen
    }
    const run = await session.run('r')
    const seen = await program(run, true)
    expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(kind === 'recall' ? 1 : 3)
    await run.close()
    const { seq } = await store.head()
    for (const restores of [true, false]) {
      const again = await session.run('r')
      expect(await program(again, restores)).toEqual(seen)
      expect(await again.effect('after', () => 'goes on')).toBe('goes on')
      await again.close()
    }
    const types = (await store.page({ after: seq })).items.map(({ type }) => type)
    expect(types.filter((type) => !/^(lease|run|effect)\./.test(type))).toEqual([])
    await expectSound(store)
  })
})
