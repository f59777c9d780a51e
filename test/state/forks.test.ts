// Forks begin with the state that their source had at the fork point.

import { describe, expect, test } from 'vitest'
import type { Session } from '../../src/index.ts'
import { engines, expectSound } from '../support/engines.ts'

const entries = async ({ state }: Session): Promise<Record<string, unknown>> => {
  const found: Record<string, unknown> = {}
  for await (const { key, value } of state.list()) found[key] = value
  return found
}

describe.each(engines)('state of forks on $name', ({ open }) => {
  test('a fork has the state of its source at the fork point, and later changes are separate', async () => {
    const store = await open()
    const source = await store.session('source')
    const long = Array.from({ length: 300 }, (_, i) => `line ${i}`)
    const bytes = Uint8Array.from([1, 2, 3])
    await source.state.set('kept', 1)
    await source.state.set('changed', 'before')
    await source.state.set('deleted', long)
    await source.state.set('made again', bytes)
    await source.state.set('gone before', 0)
    await source.state.delete('gone before')
    const { seq: at } = await store.head()
    await source.state.set('changed', 'after')
    await source.state.delete('deleted')
    await source.state.delete('made again')
    await source.state.set('made again', 'after')
    await source.state.set('late', 1)
    const atFork = { kept: 1, changed: 'before', deleted: long, 'made again': bytes }
    const fork = await source.fork({ at, key: 'fork' })
    expect(await entries(fork)).toEqual(atFork)
    expect(await entries(await source.fork({ at: 1 }))).toEqual({})

    await fork.state.set('kept', 2)
    await fork.state.delete('changed')
    expect(await entries(source)).toEqual({ kept: 1, changed: 'after', 'made again': 'after', late: 1 })
    // The source ends; the content that the fork shares stays.
    await source.delete({ reason: 'over' })
    await store.collect({ grace: 0 })
    expect(await entries(fork)).toEqual({ kept: 2, deleted: long, 'made again': bytes })
    await expectSound(store)
  })

  test('a fork of a fork has the state of the line at the fork point, also from before the first fork existed', async () => {
    const store = await open()
    const source = await store.session('source')
    await source.state.set('k', 1)
    const { seq: one } = await store.head()
    await source.state.set('k', 2)
    const { seq: two } = await store.head()
    const fork = await source.fork({ at: two, key: 'fork' })
    await fork.state.set('own', 3)
    const { seq: three } = await store.head()
    expect(await entries(await fork.fork({ at: three }))).toEqual({ k: 2, own: 3 })
    expect(await entries(await fork.fork({ at: two }))).toEqual({ k: 2 })
    expect(await entries(await fork.fork({ at: one }))).toEqual({ k: 1 })
    await expectSound(store)
  })

  test('a fork does not bring back an erased entry, nor a value that was collected', async () => {
    const store = await open()
    const source = await store.session('source')
    const { revision } = await source.state.set('secret', 'text')
    await source.state.set(
      'large',
      Array.from({ length: 500 }, (_, i) => i),
    )
    await source.state.set('kept', 1)
    const { seq: at } = await store.head()
    await source.state.set('secret', 'other')
    await source.state.set('large', 'small')
    await store.erase({ seq: revision, reason: 'asked for' })
    await store.collect({ grace: 0 })
    expect(await entries(await source.fork({ at }))).toEqual({ kept: 1 })
    await expectSound(store)
  })
})

test('a fork of a session with more entries than a commit takes has all of them', async () => {
  const { open } = engines[0] as (typeof engines)[number]
  const store = await open()
  const source = await store.session('source')
  const keys = Array.from({ length: 4500 }, (_, i) => `k${i}`)
  await Promise.all(keys.map((key) => source.state.set(key, key)))
  const fork = await source.fork({ at: (await store.head()).seq })
  expect(Object.keys(await entries(fork))).toHaveLength(keys.length)
})
