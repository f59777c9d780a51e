// Canvases in runs: an update is on the tape, so replay does not make it again.

import { describe, expect, test } from 'vitest'
import type { Run } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const program = async (run: Run): Promise<readonly unknown[]> => {
  const canvas = run.canvas('plan')
  const first = await canvas.patch([{ op: 'add', path: '/steps', value: [] }])
  const seen = await canvas.get()
  const second = await canvas.patch([{ op: 'add', path: '/steps/-', value: 'ship' }], { expect: 1 })
  const lost = await codeOf(canvas.patch([{ op: 'add', path: '/steps/-', value: 'twice' }], { expect: 1 }))
  const nothing = await canvas.patch([{ op: 'test', path: '/steps/0', value: 'ship' }])
  const failed = await codeOf(canvas.patch([{ op: 'test', path: '/steps/0', value: 'other' }]))
  const [left, right] = await Promise.all(
    Object.values(
      await run.all({
        left: (branch) => branch.canvas('left').replace({ branch: 'left' }),
        right: (branch) => branch.canvas('right').replace({ branch: 'right' }),
      }),
    ),
  )
  return [first, seen, second, lost, nothing, failed, left, right]
}

const TOLD = [
  { version: 1 },
  { document: { steps: [] }, version: 1 },
  { version: 2 },
  'CANVAS_CHANGED',
  { version: 2 },
  'PATCH_TEST_FAILED',
  { version: 1 },
  { version: 1 },
]

describe.each(engines)('on $name', (engine) => {
  test('a run that is taken up again patches nothing twice, and sees the same answers', async () => {
    const store = await engine.open({ canvas: { snapshotEvery: 1 } })
    const session = await store.session('s')
    const run = await session.run('turn')
    expect(await program(run)).toEqual(TOLD)
    await run.close()
    await session.canvas('plan').patch([{ op: 'add', path: '/by', value: 'a person' }])
    const { seq } = await store.head()
    const again = await session.run('turn')
    expect(await program(again)).toEqual(TOLD)
    expect((await store.page({ after: seq, types: ['canvas.*'] })).items).toEqual([])
    expect(await again.canvas('plan').patch([{ op: 'add', path: '/done', value: true }])).toEqual({ version: 4 })
    await again.finish()
    expect((await session.canvas('plan').get())?.document).toEqual({ steps: ['ship'], by: 'a person', done: true })
    const by: unknown[] = []
    for await (const { run: id } of session.canvas('plan').history()) by.push(id)
    expect(by).toEqual([run.id, run.id, undefined, run.id])
    expect(await codeOf(again.canvas('plan').patch([]))).toBe('RUN_FINISHED')
    expect(await codeOf((await session.run('other')).canvas('plan').patch('no patch' as never))).toBe('PATCH_INVALID')
    await expectSound(store)
  })

  test('a fork of the session at any seq goes on with what its tape says that the canvas is', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const steps = async (run: Run) => {
      const canvas = run.canvas('plan')
      await canvas.patch([{ op: 'add', path: '/steps', value: [] }])
      await canvas.patch([{ op: 'test', path: '/steps', value: [] }])
      for (const step of ['write', 'ship']) await canvas.patch([{ op: 'add', path: '/steps/-', value: step }])
    }
    const { seq: before } = await store.head()
    const run = await session.run('turn')
    await steps(run)
    await run.close()
    const { seq: head } = await store.head()
    for (let at = before; at <= head; at++) {
      const fork = await session.fork({ at, key: `at ${at}` })
      for (const one of [fork, await fork.fork({ at, key: `again at ${at}` })]) {
        const again = await one.run('turn')
        await steps(again)
        await again.finish()
        expect([at, await one.canvas('plan').get()]).toEqual([at, { document: { steps: ['write', 'ship'] }, version: 3 }])
      }
    }
    await expectSound(store)
  })
})
