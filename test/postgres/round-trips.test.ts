// How many round trips an operation costs after a rest, while no other node writes: each is a message to the server and its answer.

import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, test } from 'vitest'
import { backendOn } from '../../src/backends/postgres/backend.ts'
import type { Connections } from '../../src/backends/postgres/connections.ts'
import { openOver } from '../../src/backends/postgres/open.ts'
import { pooled } from '../../src/backends/postgres/pool.ts'
import { nodeEnvironment } from '../../src/environment.ts'
import { type Claim, open } from '../../src/index.ts'
import { MAIN } from '../../src/model/ids.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { expectSound, later, tempDatabase } from '../support/engines.ts'
import { rowsBy } from '../support/row-reads.ts'

const REST_MS = 80

/** The table or function that a statement is about; empty for settings. */
const about = (text: string): string =>
  /commit_v1|move_head_v1/.test(text)
    ? 'commit'
    : (/from inkfast\.(\w+)/.exec(text)?.[1] ?? /inkfast\.(?!enter)(\w+)/.exec(text)?.[1] ?? '')

type Counted = Readonly<Record<string, readonly string[]>>

/** What each operation sends after a rest. `through` changes the backend of the store. */
async function count(through: (backend: Backend) => Backend = (backend) => backend): Promise<Counted> {
  const url = await tempDatabase()
  // What timers of the store send meanwhile is not counted.
  const during = new AsyncLocalStorage<string[]>()
  const real = pooled({ url, connections: 2 })
  const connections: Connections = {
    ...real,
    acquire: async () => {
      const connection = await real.acquire()
      return {
        ...connection,
        run: (steps, timeoutMs) => {
          const parts = steps.map(({ text }) => about(text)).filter((part) => part !== '')
          during.getStore()?.push(parts.join('+'))
          return connection.run(steps, timeoutMs)
        },
      }
    },
  }
  const backend = backendOn(await openOver({ url }, connections), { url })
  later(() => backend.close())
  let rested = 0
  const clock = { ...nodeEnvironment.clock, monotonic: () => nodeEnvironment.clock.monotonic() + rested }
  const store = await open({ logger: false, schedule: false, backend: through(backend), clock })
  later(() => store.close())
  const counted: Record<string, readonly string[]> = {}
  /** The second of two calls: the first learns names and plans. */
  const step = async <T>(name: string, work: (n: number) => Promise<T>): Promise<T> => {
    await work(1)
    rested += REST_MS
    const trips: string[] = []
    const done = await during.run(trips, () => work(2))
    counted[name] = trips
    return done
  }
  const session = await store.session('s')
  const second = await store.session('second')
  await step('append', (n) => session.append('task.done', { n }))
  const run = await session.run('work')
  await step('run.effect', (n) => run.effect(`effect ${n}`, async () => n))
  await step('thread.add', (n) => session.thread.add({ id: `m${n}`, role: 'user', parts: [{ type: 'text', text: 'hello' }] }))
  const turn = (n: number, parent: string | null | undefined) => ({
    turn: `t${n}`,
    nodes: [
      { id: `a${n}`, ...(parent !== undefined && { parent }), payload: { role: 'user', content: 'hello' } },
      { id: `b${n}`, payload: { role: 'assistant', content: 'hello' } },
    ],
    messages: [{ id: `x${n}`, role: 'assistant', parts: [{ type: 'text', text: 'said' }] }],
    checkpoint: { plan: ['a', n] },
    usage: { model: 'm', inputTokens: 1, outputTokens: 2 },
  })
  await step('commitTurn', (n) => session.commitTurn({ ...turn(n, n === 1 ? null : `b${n - 1}`), expectedHead: n - 1 }))
  await step('commitTurn by a run', (n) => session.commitTurn({ ...turn(n + 2, `b${n + 1}`), lease: run }))
  await run.finish('done')
  const lease = await second.lease()
  await step('commitTurn on the leaf, under a lease', (n) => second.commitTurn({ ...turn(n, undefined), lease }))
  await lease.release()
  const { memory } = store
  const source = { session: session.id }
  await step('remember', (n) => memory.remember(`the cat sat on mat ${n}`, { source }))
  await step('remember again', () => memory.remember('the dog sat on the mat', { source }))
  const first = await memory.remember('the mat is red', { source })
  await step('remember instead', (n) => memory.remember(`the mat is blue ${n}`, { ttl: '1h', supersedes: first.id, source }))
  await step('recall', () => memory.recall('mattress doggy or mat*'))
  const queue = store.queue('q')
  await step('offer with key', (n) => queue.offer({ n }, { key: `k${n}` }))
  await queue.offer('more')
  const claims: (Claim | undefined)[] = []
  await step('tryClaim', async () => claims.push((await queue.tryClaim()).claim))
  await step('complete', (n) => claims[n - 1]?.complete() as Promise<unknown>)
  await step('state.set', (n) => store.state.set('key', n))
  await step('state.set with a time to live', (n) => store.state.set('lock', n, { ttl: '1h', ...(n === 1 && { expect: 0 }) }))
  await expectSound(store)
  return counted
}

const EXPECTED = {
  append: 1,
  'run.effect': 1,
  'thread.add': 1,
  complete: 1,
  commitTurn: 2,
  'commitTurn on the leaf, under a lease': 3,
  // The rows and two lists are asked for at once.
  'commitTurn by a run': 4,
  remember: 2,
  'remember again': 3,
  'remember instead': 2,
  recall: 3,
  'offer with key': 2,
  tryClaim: 2,
  'state.set': 2,
  'state.set with a time to live': 2,
}

const numbers = (counted: Counted) => Object.fromEntries(Object.entries(counted).map(([name, trips]) => [name, trips.length]))

test('an operation after a rest costs as many round trips as it must', async () => {
  const counted = await count()
  expect(numbers(counted), JSON.stringify(counted, null, 2)).toEqual(EXPECTED)
})

test('an operation that reads its head first, and its rows one by one, costs more: the control', async () => {
  let queue: Promise<unknown> = Promise.resolve()
  /** A read waits for the one before. */
  const apart = <T>(read: () => Promise<T>): Promise<T> => {
    const done = queue.then(read, read)
    queue = done.catch(() => {})
    return done
  }
  const counted = numbers(
    await count((backend) => ({
      ...backend,
      commit: async (batch) => {
        await backend.journal.head(MAIN)
        return backend.commit(batch)
      },
      rows: rowsBy(backend.rows, (...given) => apart(() => backend.rows.get(...given))),
    })),
  )
  for (const [name, trips] of Object.entries(EXPECTED)) if (name !== 'recall') expect([name, counted[name]]).not.toEqual([name, trips])
  expect(counted.append).toBe(2)
  expect(counted.commitTurn).toBeGreaterThan(8)
})
