// What a queue answers: a claim that is undefined only when nothing is claimable, a lost claim that says so every time, and items that
// say how they ended.

import { describe, expect, test } from 'vitest'
import { sqliteBackend } from '../../src/backends/sqlite/index.ts'
import { faults } from '../../src/conformance/index.ts'
import { freshMemory, handleTo } from '../../src/conformance/shared-memory.ts'
import { type Claim, open } from '../../src/index.ts'
import { codeOf, engines, later, lentBackend, lentDatabase, tempFile } from '../support/engines.ts'

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

  test('an item that is released or fails until a time is due at that time', async () => {
    const { store, now, pass } = await engine.openInTime()
    const queue = store.queue<number>('q')
    const { id } = await queue.offer(1)
    const first = await queue.claim()
    const at = (await now()) + 3_600_000
    expect(await codeOf(first?.release({ at, delay: '1s' }) as Promise<void>)).toBe('OPTION_INVALID')
    expect(await codeOf(first?.fail('e', { at, delay: '1s' }) as Promise<unknown>)).toBe('OPTION_INVALID')
    expect(await codeOf(first?.fail('e', { at: new Date(Number.NaN) }) as Promise<unknown>)).toBe('OPTION_INVALID')
    await first?.release({ at: new Date(at) })
    expect(await queue.get(id)).toMatchObject({ state: 'ready', at })
    expect(await queue.tryClaim()).toEqual({ why: 'notDue', at })
    await pass(3_600_000)
    const second = await queue.claim()
    const later = at + 7_200_000
    expect(await second?.fail(new Error('e'), { at: later })).toBe('ready')
    expect(await queue.get(id)).toMatchObject({ state: 'ready', at: later, error: { message: 'e' } })
    await pass(7_200_000)
    await (await queue.claim())?.complete()
    expect(await store.rebuild({ check: true })).toMatchObject({ differences: [] })
  })

  test('an item that was cancelled is cancelled, also when its key is offered again', async () => {
    const queue = (await engine.open()).queue('q')
    const { id } = await queue.offer(1, { key: 'k' })
    expect(await queue.cancel(id)).toMatchObject({ id, state: 'cancelled' })
    expect(await queue.offer(1, { key: 'k' })).toMatchObject({ id, state: 'cancelled', repeated: true })
    const other = await queue.offer(2, { key: 'other' })
    await (await queue.claim())?.complete()
    expect(await queue.offer(2, { key: 'other' })).toMatchObject({ id: other.id, state: 'done', repeated: true })
    const third = await queue.offer(3)
    const claim = await queue.claim()
    await queue.cancel(third.id)
    const refused = claim?.complete()
    await expect(refused).rejects.toMatchObject({ code: 'FENCE_LOST', message: expect.not.stringContaining('new holder') })
  })
})

describe('a claim is settled by a commit whose reply is lost', () => {
  const SETTLE: Readonly<Record<string, (claim: Claim) => Promise<unknown>>> = {
    complete: (claim) => claim.complete(),
    fail: (claim) => claim.fail(new Error('no'), { delay: 0 }),
    'fail for good': (claim) => claim.fail(new Error('no'), { final: true }),
    release: (claim) => claim.release(),
  }
  const BACKENDS = [
    ['memory', async () => handleTo(freshMemory())],
    ['SQLite', async () => sqliteBackend({ path: tempFile(), now: () => Date.now() })],
    ['PostgreSQL', async () => lentBackend(await lentDatabase())],
  ] as const
  const cases = BACKENDS.flatMap(([engine, backend]) => Object.entries(SETTLE).map(([name, settle]) => ({ engine, backend, name, settle })))

  test.each(cases)(
    '$name says on a retry what it would have said, also after another worker took over, on $engine',
    async ({ backend, name, settle }) => {
      let lose = false
      const store = await open({ backend: faults.failAfter(await backend(), () => lose) })
      later(() => store.close())
      const queue = store.queue('q')
      await queue.offer(1)
      const claim = (await queue.claim()) as Claim
      lose = true
      expect(await codeOf(settle(claim))).toBe('OUTCOME_UNKNOWN')
      lose = false
      const next = await queue.claim()
      expect(next?.payload).toBe(name === 'fail' || name === 'release' ? 1 : undefined)
      const { seq } = await store.head()
      expect(await settle(claim)).toBe(name.startsWith('fail') ? (name === 'fail' ? 'ready' : 'dead') : undefined)
      expect(await codeOf(claim.complete())).toBe('CLAIM_SETTLED')
      expect((await store.head()).seq).toBe(seq)
      await next?.complete()
    },
  )

  test.each(cases)(
    '$name is refused on a retry if it was never saved and another worker took over, on $engine',
    async ({ backend, settle }) => {
      let lose = false
      const store = await open({ backend: faults.failBefore(await backend(), () => lose) })
      later(() => store.close())
      const queue = store.queue('q')
      await queue.offer(1)
      const claim = (await queue.claim({ lease: 1, renew: false })) as Claim
      lose = true
      expect(await codeOf(settle(claim))).toBe('OUTCOME_UNKNOWN')
      lose = false
      const next = await queue.claim({ wait: '30s' })
      expect(next?.payload).toBe(1)
      expect(await codeOf(settle(claim))).toBe('FENCE_LOST')
      await next?.complete()
    },
  )
})
