// Programs: one value links the name of runs with their handler, their input and their result.

import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { InkError, program, type Run, type Store } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const refund = program('refund', async (run, input: { order: number }) => ({ paid: await run.effect('pay', () => input.order) }))

/** What a refusal says of the shape of a value. */
async function issuesOf(promise: Promise<unknown>): Promise<unknown> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof InkError) || error.code !== 'SHAPE_INVALID') throw new Error(`not a refusal of the shape: ${error}`)
  expect(error.kind).toBe('invalid')
  return error.details.issues
}

const seqOf = async (store: Store): Promise<number> => (await store.head()).seq

describe.each(engines)('on $name', (engine) => {
  test('a program is worked, started and awaited as one value', async () => {
    const store = await engine.open()
    await using _node = store.work([refund])
    const handle = await store.start(refund, { session: 'support/4711', input: { order: 4711 } })
    expect((await handle.result()).paid).toBe(4711)
    const again = await store.runs.handle(refund, handle.id)
    expect((await again.result()).paid).toBe(4711)
    // A plain name means the same runs.
    const named = await store.start('refund', { session: 'support/4711', input: { order: 1 } })
    expect(await named.result<{ paid: number }>()).toEqual({ paid: 1 })
    expect((await (await store.runs.handle(named.id)).result<{ paid: number }>()).paid).toBe(1)
    const other = program('other', () => {})
    expect(await codeOf(store.runs.handle(other, handle.id))).toBe('OPTION_INVALID')
    await expectSound(store)
  })

  test('a run opened by hand and a child take a program too', async () => {
    const store = await engine.open()
    const both = program('both', async (run, orders: readonly number[]) => {
      let paid = 0
      for (const order of orders) paid += (await (await run.child(refund, { input: { order } })).result()).paid
      return paid
    })
    await using _node = store.work({
      both,
      refund,
      plain: async (run: Run) => (await (await run.child('both', { input: [5] })).result<number>()) + 1,
    })
    expect(await (await store.start(both, { session: 's', input: [1, 2] })).result()).toBe(3)
    expect(await (await store.start('plain', { session: 's' })).result()).toBe(6)
    const session = await store.session('by hand')
    {
      await using run = await session.run(refund, { input: { order: 7 } })
      expect(run.input.order).toBe(7)
      await run.finish({ paid: run.input.order })
    }
    expect((await session.run(refund, { input: { order: 7 } })).result?.paid).toBe(7)
    await expectSound(store)
  })

  test('an input that does not fit is refused with the places, and nothing is written', async () => {
    const store = await engine.open()
    const Order = z.object({ order: z.number().int(), lines: z.array(z.object({ sku: z.string() })).default([]) })
    const strict = program('strict', { input: Order }, (_run, input) => ({ order: input.order, lines: input.lines.length }))
    await using _node = store.work([strict])
    const before = await seqOf(store)
    const wrong = { order: 4711, lines: [{ sku: 'a' }, { sku: 7 }] } as never
    expect(await issuesOf(store.start(strict, { session: 'new', input: wrong }))).toEqual([
      { path: '$.lines[1].sku', message: expect.stringContaining('string') },
    ])
    expect(await issuesOf(store.start(strict, { session: 'new', input: undefined as never }))).toMatchObject([{ path: '$' }])
    const many = { order: 1, lines: Array.from({ length: 50 }, () => ({})) } as never
    expect(await issuesOf(store.start(strict, { session: 'new', input: many }))).toHaveLength(10)
    expect(await seqOf(store)).toBe(before)
    const session = await store.session('s')
    const opened = await seqOf(store)
    expect(await issuesOf(session.run(strict, { input: wrong }))).toHaveLength(1)
    expect(await seqOf(store)).toBe(opened)
    // What fits is stored as the schema made it.
    const handle = await store.start(strict, { session: 's', input: { order: 4711 } })
    expect(await handle.result()).toEqual({ order: 4711, lines: 0 })
    await using run = await session.run(strict, { input: { order: 1 } })
    expect(run.input).toEqual({ order: 1, lines: [] })
  })

  test('a transform runs once: neither a retry, nor taking a run up, nor replay applies it to its own output', async () => {
    const store = await engine.open()
    let calls = 0
    const Doubled = z.object({ n: z.number() }).transform(({ n }) => {
      calls++
      return { n: n * 2, at: new Date(0) }
    })
    const doubled = program('doubled', { input: Doubled }, (_run, input) => input.n)
    const handle = await store.start(doubled, { session: 's', input: { n: 2 }, key: 'k' })
    expect((await store.start(doubled, { session: 's', input: { n: 2 }, key: 'k' })).id).toBe(handle.id)
    const session = await store.session('s')
    calls = 0
    for (const attempt of [1, 2]) {
      await using run = await session.run(doubled, { input: { n: 3 } })
      expect(run).toMatchObject({ attempt, input: { n: 6, at: '1970-01-01T00:00:00.000Z' } })
    }
    expect(calls).toBe(1)
    await (await session.run('doubled')).cancel('done')

    calls = 0
    const other = await store.session('parents')
    const parent = async (run: Run) => {
      const child = await run.child(doubled, { input: { n: 5 } })
      return child.result()
    }
    {
      await using run = await other.run('parent')
      await run.child(doubled, { input: { n: 5 } })
      expect(calls).toBe(1)
    }
    await using _node = store.work([doubled])
    await using run = await other.run('parent')
    expect(await parent(run)).toBe(10)
    expect(calls).toBe(1)
    await run.finish()
    expect(await handle.result()).toBe(4)
    await expectSound(store)
  })

  test('a child that was refused leaves nothing on the tape, so replay goes on', async () => {
    const store = await engine.open()
    const Order = z.object({ order: z.number() })
    for (const [how, shape] of Object.entries({ now: Order, later: Order.refine(async () => true) })) {
      const strict = program('strict', { input: shape }, (_run, { order }) => order)
      const session = await store.session(how)
      const parent = async (run: Run) => {
        const code = await codeOf(run.child(strict, { input: { order: 'x' } as never }))
        return [code, await run.effect('after', () => 'once'), (await run.child(strict, { input: { order: 1 } })).id]
      }
      const seen: unknown[] = []
      for (const attempt of [1, 2]) {
        await using run = await session.run('parent')
        expect(run.attempt).toBe(attempt)
        seen.push(await parent(run))
      }
      expect(seen[0]).toEqual(['SHAPE_INVALID', 'once', expect.any(String)])
      expect(seen[1]).toEqual(seen[0])
      expect(await parent(await session.run('parent', { replay: 'strict' }))).toEqual(seen[0])
    }
    await expectSound(store)
  })

  test('a secret in a refused input is masked in the refusal', async () => {
    const store = await engine.open()
    const telling = program('telling', { input: z.string().refine(() => false, { error: ({ input }) => `not ${input}` }) }, () => {})
    const key = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijklm-AA'
    const error = await store.start(telling, { session: 's', input: key }).catch((thrown: InkError) => thrown)
    expect((error as InkError).code).toBe('SHAPE_INVALID')
    expect(`${(error as InkError).message}${JSON.stringify((error as InkError).details)}`).not.toContain('abcdefghijklmnop')
  })
})

test('what is no program is refused with its reason', async () => {
  const store = await engine().open()
  const twin = program('refund', () => {})
  const refused = (call: () => unknown) => codeOf((async () => call())())
  expect(await refused(() => store.work([refund, twin]))).toBe('OPTION_INVALID')
  expect(() => store.work([refund, twin])).toThrow("another program is named 'refund'")
  expect(() => store.work({ payback: refund })).toThrow("named 'refund'")
  expect(() => store.work([])).toThrow('at least one')
  expect(() => store.work([(() => {}) as never])).toThrow('a program')
  expect(() => store.work({ refund: 'refund' as never })).toThrow('a function or a program')
  expect(await refused(() => program('', () => {}))).toBe('RUN_NAME_INVALID')
  expect(await refused(() => program('x', undefined as never))).toBe('OPTION_INVALID')
  expect(await refused(() => program('x', { input: {} as never }, () => {}))).toBe('OPTION_INVALID')
  expect(await refused(() => program('x', { input: z.string(), mispelt: 1 } as never, () => {}))).toBe('OPTION_INVALID')
  expect(await refused(() => store.start({ name: 'x' } as unknown as string, { session: 's' }))).toBe('RUN_NAME_INVALID')
})

function engine() {
  const [first] = engines
  if (!first) throw new Error('there is no engine')
  return first
}
