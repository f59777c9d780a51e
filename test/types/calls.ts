// What the compiler promises about programs, declared shapes, reads and events. Nothing here is executed: the compiler is the test, with
// `exactOptionalPropertyTypes` when everything is checked, and without it in results.test.ts.

import { z } from 'zod'
import { type Event, type Handlers, isStandard, type Json, program, type Run, type StateEntry, type Store } from '../../src/index.ts'

/** Both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const is = <A, B>(same: Same<A, B>): void => void same

const refund = program('refund', async (_run, input: { order: number }) => ({ paid: input.order }))
const tick = program('tick', async (run) => run.effect('x', () => 'done'))
const maybe = program('maybe', (_run, input?: { page: number }) => input?.page)
const dated = program('dated', { input: z.object({ day: z.string().transform((text) => new Date(text)) }) }, (_run, input) => input)

export async function calls(store: Store, run: Run, name: string): Promise<void> {
  const session = await store.session('s')

  // programs
  const handle = await store.start(refund, { session: 's', input: { order: 1 } })
  is<Awaited<ReturnType<typeof handle.result>>, { paid: number }>(true)
  is<number, Awaited<ReturnType<typeof handle.result>>['paid']>(true)
  // @ts-expect-error: the input is missing
  await store.start(refund, { session: 's' })
  // @ts-expect-error: the input is of another type
  await store.start(refund, { session: 's', input: { order: '1' } })
  // @ts-expect-error: an unknown option
  await store.start(refund, { session: 's', input: { order: 1 }, mispelt: true })
  // @ts-expect-error: the result is no string
  const text: string = await handle.result()
  await store.start(tick, { session: 's' })
  // @ts-expect-error: it takes no input
  await store.start(tick, { session: 's', input: 1 })
  await store.start(maybe, { session: 's' })
  await store.start(maybe, { session: 's', input: { page: 1 } })
  const plain = await store.start(name, { session: 's', input: text })
  is<unknown, Awaited<ReturnType<typeof plain.result>>>(true)
  is<number, Awaited<ReturnType<typeof plain.result<number>>>>(true)
  const child = await run.child(refund, { input: { order: 1 } })
  is<Awaited<ReturnType<typeof child.result>>, { paid: number }>(true)
  await run.child(tick)
  await run.child(name)
  await run.child(name, { input: 1 })
  // @ts-expect-error: the input is missing
  await run.child(refund)
  // @ts-expect-error: the input is missing
  await session.run(refund)
  const byHand = await session.run(refund, { input: { order: 1 }, wait: '1s' })
  is<typeof byHand.input, { order: number }>(true)
  // @ts-expect-error: the result is of another type
  await byHand.finish({ paid: '1' })
  const anyRun: Run = byHand
  await anyRun.finish()
  await session.run(tick)
  await session.run(name)
  const again = await store.runs.handle(refund, handle.id)
  is<Awaited<ReturnType<typeof again.result>>, { paid: number }>(true)
  const handlers: Handlers = { refund, other: async (_run, input) => input.page }
  store.work(handlers)
  store.work([refund, tick, maybe, dated])

  // @ts-expect-error: a Map cannot be stored
  program('map', () => ({ seen: new Map<string, number>() }))
  const at = await store.start(
    program('at', async () => ({ at: new Date() })),
    { session: 's' },
  )
  is<Awaited<ReturnType<typeof at.result>>, { at: string }>(true)

  // declared shapes: callers give the text, and a date comes back as text
  const day = await store.start(dated, { session: 's', input: { day: '2026-01-01' } })
  is<Awaited<ReturnType<typeof day.result>>, { day: string }>(true)
  // @ts-expect-error: callers give a text
  await store.start(dated, { session: 's', input: { day: new Date() } })
  const queue = store.queue('q', { payload: z.object({ n: z.coerce.number<string>() }) })
  await queue.offer({ n: '1' })
  // @ts-expect-error: callers give a text
  await queue.offer({ n: 1 })
  queue.work(({ payload }) => is<typeof payload, { n: number }>(true))
  const entry = store.state.entry('k', { value: z.object({ page: z.number() }) })
  await entry.set({ page: 1 })
  // @ts-expect-error: the page is missing
  await entry.set({})
  is<NonNullable<Awaited<ReturnType<typeof entry.get>>>['value'], { page: number }>(true)

  // reads
  const cursor = await store.state.get<{ page: number }>('k')
  is<typeof cursor, StateEntry<{ page: number }> | undefined>(true)
  is<NonNullable<typeof cursor>['value'], { page: number }>(true)
  for await (const { value } of session.state.list<{ page: number }>()) is<typeof value, { page: number }>(true)
  const document = (await session.canvas('c').get<{ steps: string[] }>())?.document
  is<typeof document, { steps: string[] } | undefined>(true)
  is<Awaited<ReturnType<typeof store.values.get<number>>>, number | undefined>(true)

  // events
  for await (const event of store.events()) {
    is<typeof event, Event>(true)
    if (event.type === 'order.placed') await store.start(refund, { session: 's', input: event.data as { order: number } })
    if (isStandard(event) && event.type === 'tool.called') is<typeof event.data, Tool | undefined>(true)
  }
  for await (const event of store.events({ types: ['tool.called', 'message.sent', 'order.placed'] })) {
    if (event.type === 'tool.called') is<typeof event.data, Tool | undefined>(true)
    if (event.type === 'message.sent') is<NonNullable<typeof event.data>['text'], string | undefined>(true)
    if (event.type === 'order.placed') is<typeof event.data, unknown>(true)
    // @ts-expect-error: the query does not ask for this type
    if (event.type === 'tool.failed') throw event
    // @ts-expect-error: the data of an erased event is undefined
    if (event.type === 'message.sent') event.data.text
  }
  for await (const event of store.events({ types: ['tool.*'], live: true })) is<typeof event, Event>(true)
  for (const event of (await store.page({ types: ['goal.evaluated'] })).items) is<typeof event.data, Goal | undefined>(true)
}

interface Tool {
  readonly tool: string
  readonly call: string
  readonly arguments: Json
}
interface Goal {
  readonly goal: string
  readonly reached: boolean
  readonly score?: number
  readonly reason?: string
}
