// Which operations of the API take the fast path, counted by the statements that reach the server.

import { expect, test } from 'vitest'
import { open, type Store } from '../../src/index.ts'
import { expectSound, later, tempDatabase } from '../support/engines.ts'
import { isFunction, isPlain, watched } from './watched.ts'

type Counted = Readonly<Record<string, { readonly statements: number; readonly calls: number }>>

const LONG = 'words '.repeat(20_000)

/** A store that knows its head, and what each operation sent. `before` runs before each of them. */
async function count(before: (url: string) => Promise<void> = async () => {}): Promise<Counted> {
  const url = await tempDatabase()
  const texts: string[] = []
  const store = await open({ logger: false, schedule: false, backend: await watched(url, (text) => texts.push(text)) })
  later(() => store.close())
  const counted: Record<string, { statements: number; calls: number }> = {}
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    await before(url)
    texts.length = 0
    const done = await work()
    counted[name] = { statements: texts.filter(isPlain).length, calls: texts.filter(isFunction).length }
    return done
  }
  await store.session('first')
  const session = await step('open a session', () => store.session('second'))
  const blob = await store.blobs.put(Buffer.from('bytes'))
  const value = await store.values.put(['a value'])
  await step('append', () => session.append('task.done', { n: 1 }))
  await step('append with a declared blob', () => session.append('task.done', {}, { refs: [blob] }))
  await step('append with a declared value', () => session.append('task.done', {}, { refs: [value] }))
  await step('append with a blob in its data', () => session.append('task.done', { blob }))
  await step('append large data', () => session.append('task.done', { text: LONG.repeat(10) }, { large: 'blob' }))
  const run = await step('start a run', () => session.run('work'))
  await step('effect', () => run.effect('small', async () => 1))
  await step('effect with a large result', () => run.effect('large', async () => LONG))
  await step('checkpoint', () => run.checkpoint({ messages: [LONG] }))
  await step('finish a run', () => run.finish('done'))
  await step('start a run for a worker', () => store.start('later', { session: 'second' }))
  await step('remember', () => store.memory.remember('the cat sat on the mat'))
  await step('thread.add', () => session.thread.add({ id: 'a', role: 'user', parts: [{ type: 'text', text: 'hello' }] }))
  await step('thread.add with nodes', () => session.thread.add({ id: 'b', role: 'user', parts: [{ type: 'text', text: LONG }] }))
  await step('state with nodes', () => store.state.set('key', [LONG]))
  await expectSound(store)
  return counted
}

/** A tenant's other node. */
const elsewhere = async (url: string): Promise<Store> => {
  const store = await open({ logger: false, schedule: false, url })
  later(() => store.close())
  return store
}

test('operations take the fast path: names, nodes and references too', async () => {
  const counted = await count()
  expect(Object.keys(counted)).toHaveLength(16)
  expect(counted).toEqual(Object.fromEntries(Object.keys(counted).map((name) => [name, { statements: 1, calls: 0 }])))
})

test('operations take the function while another node writes in between: the control', async () => {
  let other: Store | undefined
  const counted = await count(async (url) => {
    other ??= await elsewhere(url)
    await other.appendAll([{ type: 'task.done', data: {} }])
  })
  expect(Object.entries(counted).filter(([, { calls }]) => calls === 0)).toEqual([])
})
