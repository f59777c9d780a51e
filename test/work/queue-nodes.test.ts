// A queue that several nodes share: each item once, and each is heard of by all.

import { describe, expect, test } from 'vitest'
import { open, type Store } from '../../src/index.ts'
import { codeOf, engines, expectSound, openIn, tempDatabase, tempFile } from '../support/engines.ts'

const twoHandles = async (name: string): Promise<readonly [Store, Store]> => {
  const url = name === 'postgres' ? await tempDatabase() : tempFile()
  return [await openIn(url), await openIn(url)]
}

describe.each(engines.filter(({ name }) => name === 'sqlite' || name === 'postgres'))('two nodes on $name', (engine) => {
  test('two nodes share a queue, and each item is done once', async () => {
    const [one, two] = await twoHandles(engine.name)
    const done: number[] = []
    for (let i = 0; i < 60; i++) await one.queue<number>('q').offer(i)
    await using a = one.queue<number>('q').work((claim) => void done.push(claim.payload), { concurrency: 4 })
    await using b = two.queue<number>('q').work((claim) => void done.push(claim.payload), { concurrency: 4 })
    await expect.poll(() => a.stats().completed + b.stats().completed).toBe(60)
    expect(done.sort((x, y) => x - y)).toEqual(Array.from({ length: 60 }, (_, i) => i))
    await expectSound(one)
  })

  test('an item offered by another process is noticed without being asked for', async () => {
    const [one, two] = await twoHandles(engine.name)
    await using worker = two.queue('q').work(() => {})
    await one.queue('q').offer('hello')
    await expect.poll(() => worker.stats().completed).toBe(1)
  })

  test('claiming from a queue waits as long as it is told to', async () => {
    const [one, two] = await twoHandles(engine.name)
    const waiting = two.queue<string>('q').claim({ wait: '5s' })
    await one.queue('q').offer('hello')
    expect((await waiting)?.payload).toBe('hello')
    expect(await two.queue('q').claim({ wait: 20 })).toBeUndefined()
  })
})

test('a store that is closed offers and claims nothing', async () => {
  const store = await open(':memory:')
  const queue = store.queue('q')
  await store.close()
  expect(await codeOf(queue.offer(1))).toBe('STORE_CLOSED')
  expect(await codeOf(queue.claim())).toBe('STORE_CLOSED')
})
