// What compiles as the result of an effect, and what it comes back as. Nothing here is executed: the compiler is the test, with
// `exactOptionalPropertyTypes` when everything is checked, and without it in results.test.ts.

import { generateText, type LanguageModel, type LanguageModelUsage, type ModelMessage, type ToolSet } from 'ai'
import { z } from 'zod'
import { type EffectFunction, type Json, type Jsonify, program, type Run, type Session, type Store } from '../../src/index.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <_A extends true>(): void => {}

interface Line {
  readonly product: string
  readonly note: string | undefined
}
interface Order {
  id: number
  at: Date
  paid?: Date | undefined
  lines: Line[]
  readonly tags: readonly [string, Date]
  more: unknown
}
interface StoredOrder {
  id: number
  at: string
  paid?: string | undefined
  lines: Line[]
  readonly tags: readonly [string, string]
  more: unknown
}
type Tree = { readonly kids: Tree[]; readonly at: Date }

class Point {
  x = 1
  move(): void {}
}

declare const order: () => Promise<Order>
declare const tree: Tree
declare const anything: ReturnType<typeof JSON.parse>
declare const model: LanguageModel
declare const tools: ToolSet
declare const json: Json

export async function fits(run: Run): Promise<void> {
  const stored: StoredOrder = await run.effect('order', order)
  const back: string = (await run.effect('tree', () => tree)).kids[0]?.kids[0]?.at ?? ''
  const line: Line = await run.effect('line', () => stored.lines[0] as Line)
  const nothing: undefined = await run.effect('nothing', () => undefined)
  await run.effect('void', () => {})
  const some: number = await run.effect('number', () => 1)
  const same: Json = await run.effect('json', () => json)
  const failing: never = await run.effect('never', async () => {
    throw new Error('never')
  })
  const open = await run.effect('any', () => anything)
  open.whatever.it.is
  // Of a union, the branches are left that are JSON.
  const text: string = await run.effect('text', () => 'x' as string | Uint8Array)
  const half = await run.begin<Order>('half')
  const settled: string = half.done ? half.result.at : (await half.settle(await order())).at
  void [back, line, nothing, some, same, failing, text, settled]
}

export async function sdk(run: Run): Promise<void> {
  const ask = () => generateText({ model, tools, prompt: 'hi' })
  const reply = await run.effect('ask', async () => (await generateText({ model, prompt: 'hi' })).response)
  const at: string = reply.timestamp
  const messages: ModelMessage[] = reply.messages
  const usage: LanguageModelUsage = await run.effect('usage', async () => (await ask()).usage)
  const calls = await run.effect('calls', async () => (await ask()).toolCalls)
  const content = await run.effect('content', async () => (await ask()).content)
  await generateText({ model, messages })
  void [at, usage, calls[0]?.toolName, content]
}

export async function refused(run: Run): Promise<void> {
  // @ts-expect-error a Map
  await run.effect('map', () => new Map([['a', 1]]))
  // @ts-expect-error a Map inside
  await run.effect('inside', async () => ({ deep: { list: [{ map: new Map() }] } }))
  // @ts-expect-error a function
  await run.effect('function', () => () => 1)
  // @ts-expect-error a function inside
  await run.effect('method', async () => ({ id: 1, next: () => 1 }))
  // @ts-expect-error a function that may be absent
  await run.effect('optional', async (): Promise<{ id: number; next?: () => void }> => ({ id: 1 }))
  // @ts-expect-error an instance of a class
  await run.effect('class', () => [new Point()])
  // @ts-expect-error bytes
  await run.effect('bytes', async () => new Uint8Array(1))
  // @ts-expect-error an integer that JSON does not have
  await run.effect('bigint', () => ({ n: 1n }))
  // @ts-expect-error a response, which is an instance of a class
  await run.effect('fetch', () => fetch('http://localhost'))
  // @ts-expect-error the result of the SDK itself has files, which are bytes
  await run.effect('steps', async () => (await generateText({ model, prompt: 'hi' })).steps)
  const half = await run.begin<Map<string, number>>('half')
  // @ts-expect-error a Map, settled by hand
  if (!half.done) await half.settle(new Map())
}

/** A wrapper declares its work as `effect` does. */
export const timed = async <T>(run: Run, work: EffectFunction<T>): Promise<Jsonify<T>> => run.effect('timed', work)
export const wrapped: (run: Run) => Promise<string> = async (run) => (await timed(run, order)).at
// @ts-expect-error a Map through a wrapper
export const mapped = (run: Run) => timed(run, () => new Map())

declare const flag: boolean

/** Results of programs are inferred from all their branches, and checked like results of effects. */
export const either = program('either', (_run, input: { n: number }) => (flag ? 'x' : input))
export const shaped = program('shaped', { input: z.object({ day: z.date() }) }, (_run, input) => (flag ? input.day : 5))
export async function programs(store: Store): Promise<void> {
  const result: string | { n: number } = await (await store.start(either, { session: 's', input: { n: 1 } })).result()
  const day: string | number = await (await store.start(shaped, { session: 's', input: { day: new Date() } })).result()
  void [result, day]
}
// @ts-expect-error a Map
export const never = program('never', async (_run, input: { n: number }) => ({ input, map: new Map() }))

export function exactly(): void {
  same<Same<Jsonify<unknown>, unknown>>()
  same<Same<Jsonify<Date | null>, string | null>>()
  same<Same<Jsonify<[1, Date?]>, [1, string?]>>()
  same<Same<Jsonify<{ a: () => void }>, never>>()
}

/** Interfaces, dates and members that may be undefined are accepted wherever JSON is given. */
export async function given(store: Store, session: Session, stored: Order): Promise<void> {
  await store.memory.remember('x', { metadata: stored })
  await session.describe(stored)
  await session.configure({ tokens: stored })
  await store.state.set('k', stored)
}
