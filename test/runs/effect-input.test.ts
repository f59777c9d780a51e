// The declared input of an effect: recorded masked, and compared by its digest on replay.

import { describe, expect, test } from 'vitest'
import { TapeLines } from '../../src/cli/runs/tape-lines.ts'
import type { InkError, Run, Session } from '../../src/index.ts'
import { engines, expectSound } from '../support/engines.ts'

const never = () => {
  throw new Error('called again')
}

interface Settled {
  readonly name: string
  readonly input?: { readonly digest: string; readonly stored: { readonly value?: unknown; readonly blob?: unknown } }
}

async function settledOf(run: Run): Promise<readonly Settled[]> {
  const found: Settled[] = []
  for await (const { type, data } of run.tape()) if (type === 'effect.settled') found.push(data as Settled)
  return found
}

/** Records one effect with this input, and replays it with another. */
async function replayed(session: Session, name: string, first: unknown, second: unknown): Promise<unknown> {
  const run = await session.run(name)
  await run.effect('pay', () => 'paid', { input: first })
  await run.close()
  await using again = await session.run(name)
  return await again.effect('pay', never, { input: second }).catch((error: InkError) => error)
}

describe.each(engines)('on $name', (engine) => {
  test('an effect is replayed with the same input, whatever the order of its members', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const big = 'x'.repeat(40_000)
    expect(
      await replayed(session, 'same', { a: 1, b: [2, { password: 'hunter2-hunter2' }] }, { b: [2, { password: 'hunter2-hunter2' }], a: 1 }),
    ).toBe('paid')
    expect(await replayed(session, 'large', { big }, { big })).toBe('paid')
    expect(await replayed(session, 'none before', undefined, { a: 1 })).toBe('paid')
    expect(await replayed(session, 'none now', { a: 1 }, undefined)).toBe('paid')
    const [same] = await settledOf(await session.run('same'))
    expect(same?.input?.digest).toMatch(/^[0-9a-f]{64}$/)
    expect(JSON.stringify(same)).not.toContain('hunter2')
    const lines = new TapeLines(new Map())
    const shown: (string | undefined)[] = []
    for await (const event of (await session.run('same')).tape()) shown.push(lines.cells(event)?.at(-1))
    expect(shown).toContainEqual(expect.stringMatching(/^"paid", for \{"a":1,"b":/))
    const [large] = await settledOf(await session.run('large'))
    expect(large?.input?.stored).toEqual({ blob: { digest: expect.any(String), bytes: expect.any(Number) } })
    await expectSound(store)
  })

  test('an input that is no JSON is refused before the effect begins, and an input that changes later is recorded as it was', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('r')
    await expect(run.effect('pay', never, { input: () => 1 })).rejects.toMatchObject({ code: 'DATA_INVALID' })
    const input = { a: 1 }
    const paid = run.effect('pay', () => 'paid', { input, ifUnknown: 'ask' })
    input.a = 2
    expect(await paid).toBe('paid')
    await run.close()
    const again = await session.run('r')
    expect(await again.effect('pay', never, { input: { a: 1 }, ifUnknown: 'ask' })).toBe('paid')
    await again.finish()
    await expectSound(store)
  })

  test('an effect with another input is REPLAY_DIVERGED, which names at most eight paths', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const differs = async (name: string, first: unknown, second: unknown) => {
      const error = (await replayed(session, name, first, second)) as InkError
      expect(error.code).toBe('REPLAY_DIVERGED')
      return [...String(error.details.diff).matchAll(/differs at (.*)$/gm)].map(([, path]) => path)
    }
    expect(await differs('value', { a: 1, b: [1, 2] }, { a: 1, b: [1, 3], c: 0 })).toEqual(['$.b[1]', '$.c'])
    expect(await differs('secret', { password: 'hunter2-hunter2' }, { password: 'hunter3-hunter3' })).toEqual(['$.password'])
    const many = (from: number) => Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, i + from]))
    expect(await differs('many', many(0), many(1))).toHaveLength(8)
    const [long] = await differs('long', { ['é'.repeat(3000)]: 1 }, { ['é'.repeat(3000)]: 2 })
    expect(Buffer.byteLength(long ?? '')).toBeLessThanOrEqual(2048)
    expect(await differs('large', { big: 'x'.repeat(40_000) }, { big: 'y'.repeat(40_000) })).toEqual(['$.big'])
    await expectSound(store)
  })

  test('an effect that was interrupted compares the input that it began with, and is not called with another', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const blocked = Promise.withResolvers<string>()
    const asked = { ifUnknown: 'ask' } as const
    const retried = { retry: { attempts: 2, backoff: '1h' } } as const
    const begin = async (name: string, work: () => unknown, options: object, recorded: string) => {
      const run = await session.run(name)
      const effect = run.effect('pay', work, { ...options, input: { a: 1 } }).catch(() => {})
      await expect.poll(async () => (await store.page({ run: run.id, types: [recorded] })).items.length).toBe(1)
      await run.close()
      blocked.resolve('too late')
      await effect
    }
    const diverged = async (name: string, options: object) => {
      await using run = await session.run(name)
      const error = (await run.effect('pay', never, { ...options, input: { a: 2 } }).catch((thrown: InkError) => thrown)) as InkError
      expect(error).toMatchObject({ code: 'REPLAY_DIVERGED', details: { diff: expect.stringContaining('differs at $.a') } })
    }
    await begin('started', () => blocked.promise, asked, 'effect.started')
    await diverged('started', asked)
    const started = await session.run('started')
    const answer = started.effect('pay', never, { ...asked, input: { a: 1 } })
    await expect.poll(async () => (await store.runs.get(started.id))?.waits.length).toBe(1)
    await store.runs.resolve(started.id, 'pay', { result: 'by hand' })
    expect(await answer).toBe('by hand')
    await started.close()
    await diverged('started', asked)

    await begin('retried', () => Promise.reject(new Error('busy')), retried, 'effect.retried')
    await diverged('retried', retried)
    await expectSound(store)
  })

  test('an effect that was erased is not called, and another input is not compared with it', async () => {
    const store = await engine.open()
    const session = await store.session('s')
    const run = await session.run('r')
    await run.effect('pay', () => 'paid', { input: { a: 1 } })
    await run.effect('send', () => 'sent', { input: { b: 1 } })
    await run.close()
    const [settled] = (await store.page({ run: run.id, types: ['effect.settled'] })).items
    await store.erase({ seq: settled?.seq ?? 0, reason: 'subject request 12' })
    await using again = await session.run('r')
    const [pay, send] = await Promise.allSettled([
      again.effect('pay', never, { input: { a: 2 } }),
      again.effect('send', never, { input: { b: 1 } }),
    ])
    expect(pay).toMatchObject({ reason: { code: 'REPLAY_DIVERGED', details: { diff: expect.stringContaining("effect '(erased)'") } } })
    expect(send).toMatchObject({ value: 'sent' })
    await expectSound(store)
  })
})
