// Checkpoints at the terminal: the newest one in `runs show`, and where epochs begin in `runs tape`.

import { expect, test } from 'vitest'
import { inStore } from './runs-support.ts'
import { copyForEach, inkHere as ink, inkHereJson as inkJson, lines } from './support.ts'

const copy = copyForEach((url) =>
  inStore(url, async (store) => {
    const run = await (await store.session('s')).run('r')
    await run.effect('pay', () => 1)
    await run.checkpoint({ toolState: { n: 1 }, plugin: 'a' })
    await run.effect('pay', () => 2)
    await run.checkpoint({ toolState: { n: 2 }, plugin: 'a' })
    await run.close()
    return run.id
  }),
)

test('runs show tells the newest checkpoint with its components', async () => {
  const { code, out } = await ink(['runs', 'show', copy.path, copy.made])
  expect(code).toBe(0)
  expect(lines(out).find((line) => line.startsWith('checkpoint'))).toMatch(
    /^checkpoint +plugin \(revision 1\), toolState \(revision 2\); began epoch 2, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \(/,
  )
  expect((await inkJson(['runs', 'show', copy.path, copy.made])).run.checkpoint).toMatchObject({ epoch: 2 })
})

test('runs tape shows where each epoch begins', async () => {
  const { out } = await ink(['runs', 'tape', copy.path, copy.made])
  expect(lines(out).flatMap((line) => (line.includes('epoch') ? [line.slice(line.indexOf('checkpoint'))] : []))).toEqual([
    expect.stringMatching(/^checkpoint +plugin \(revision 1\), toolState \(revision 1\); epoch 1 begins$/),
    expect.stringMatching(/^checkpoint +plugin \(revision 1\), toolState \(revision 2\); epoch 2 begins$/),
  ])
})

test('runs resolve refuses an epoch in which nothing waits', async () => {
  const { code, err } = await ink(['runs', 'resolve', copy.path, copy.made, 'pay', '--result', '1', '--epoch', '0'])
  expect(code).not.toBe(0)
  expect(err).toContain("has no unresolved effect named 'pay'")
})
