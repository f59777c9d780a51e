// What a queue answers: a claim that is undefined only when nothing is claimable, a lost claim that says so every time, and items that
// say how they ended.

import { describe, expect, test } from 'vitest'
import { faults } from '../../src/conformance/index.ts'
import { freshMemory, handleTo } from '../../src/conformance/shared-memory.ts'
import { open } from '../../src/index.ts'
import { codeOf, engines, later } from '../support/engines.ts'

describe.each(engines)('answers of a queue on $name', (engine) => {
  test('a hundred callers that claim at once get a hundred items, and the next gets none', async () => {
    const queue = (await engine.open()).queue('q')
    for (let i = 0; i < 100; i++) await queue.offer(i)
    const claims = await Promise.all(Array.from({ length: 100 }, () => queue.claim()))
    expect(new Set(claims.map((claim) => claim?.payload)).size).toBe(100)
    expect(claims).not.toContain(undefined)
    expect(await queue.claim()).toBeUndefined()
    await Promise.all(claims.map((claim) => claim?.complete()))
  })

  test('a claim that was lost says FENCE_LOST every time', async () => {
    const { store, pass } = await engine.openInTime()
    const queue = store.queue('q')
    await queue.offer(1)
    const first = await queue.claim({ lease: '1s' })
    await pass(60_000)
    const second = await queue.claim()
    expect(second?.payload).toBe(1)
    for (let i = 0; i < 3; i++) expect(await codeOf(first?.complete() as Promise<void>)).toBe('FENCE_LOST')
    expect(await codeOf(first?.fail(new Error('late')) as Promise<unknown>)).toBe('FENCE_LOST')
    await first?.[Symbol.asyncDispose]()
    await second?.complete()
  })

  test('an item that was cancelled is cancelled, also when its key is offered again', async () => {
    const queue = (await engine.open()).queue('q')
    const { id } = await queue.offer(1, { key: 'k' })
    expect(await queue.cancel(id)).toMatchObject({ id, state: 'cancelled' })
    expect(await queue.offer(1, { key: 'k' })).toMatchObject({ id, state: 'cancelled', repeated: true })
    const other = await queue.offer(2, { key: 'other' })
    await (await queue.claim())?.complete()
    expect(await queue.offer(2, { key: 'other' })).toMatchObject({ id: other.id, state: 'done', repeated: true })
  })
})

test('a completion whose reply was lost succeeds when it is tried again', async () => {
  const memory = freshMemory()
  let failing = false
  const lossy = faults.failAfter(handleTo(memory), () => failing)
  const store = await open({ backend: lossy })
  later(() => store.close())
  const queue = store.queue('q')
  await queue.offer(1)
  const claim = await queue.claim()
  failing = true
  expect(await codeOf(claim?.complete() as Promise<void>)).toBe('OUTCOME_UNKNOWN')
  failing = false
  await claim?.complete()
  expect(await codeOf(claim?.complete() as Promise<void>)).toBe('CLAIM_SETTLED')
  expect(await queue.claim()).toBeUndefined()
})
