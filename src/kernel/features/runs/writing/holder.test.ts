// Who holds a run, as others see it.

import { expect, test } from 'vitest'
import { open } from '../../../../index.ts'

test('a run is held by whoever opened it, under its fence, until it is given back', async () => {
  await using store = await open({ url: ':memory:', lease: { owner: 'desk 3' } })
  const session = await store.session('s')
  const run = await session.run('answer')
  const held = await store.runs.holder(run.id)
  expect(held).toMatchObject({ owner: 'desk 3', fence: run.fence, lapsed: false })
  expect(held?.until).toBeGreaterThan(held?.now ?? Infinity)
  await run.close()
  expect(await store.runs.holder(run.id)).toBeUndefined()
})

test('the lease holder of a session holds each of its runs, but not one with a lease of its own', async () => {
  await using store = await open(':memory:')
  const session = await store.session('s')
  const beside = await session.run('beside', { parallel: true })
  await beside.close()
  const first = await session.run('first')
  await first.finish()
  await using second = await session.run('second')
  expect((await store.runs.holder(first.id))?.fence).toBe(second.fence)
  expect(await store.runs.holder(beside.id)).toBeUndefined()
})

test('a run that is not there has no holder to be told', async () => {
  await using store = await open(':memory:')
  await expect(store.runs.holder('01K1Y2Z3A4B5C6D7E8F9G0H1J2')).rejects.toMatchObject({ code: 'RUN_UNKNOWN' })
})
