// A process that works off queues until stdin says to end, or until it is killed. Every side effect appends a line to its outbox before it goes on.
// `work` handles items and the ticks of a job. `offer` offers the items. `hold` stays in one handler until stdin says to end it, and prints its
// statistics; the test pauses the process meanwhile. `quick` handles items as fast as it can; with `loose` many completions may be unwritten.
// Controls: `timeless` does not notice the pause, `unfenced` writes without fences.

import { appendFileSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { sqliteBackend } from '../../src/backends/sqlite/backend.ts'
import { open } from '../../src/index.ts'
import { unfenced } from '../runs/unfenced.ts'
import { ITEMS, type Line, LOOSE_UNWRITTEN, optionsOf, POISON, QUICK_CONCURRENCY } from './worker-items.ts'

const [url = '', outbox = '', role = 'work', how = ''] = process.argv.slice(2)

const say = (...words: unknown[]): void => void writeSync(1, `${JSON.stringify(words)}\n`)
const note = (line: Line): void => appendFileSync(outbox, `${JSON.stringify(line)}\n`)

const backend = url.startsWith('postgres:')
  ? await postgresBackend({ url, connections: 2 })
  : await sqliteBackend({ path: url, now: Date.now })
const store = await open({
  logger: false,
  backend: how === 'unfenced' ? unfenced(backend) : backend,
  ...((how === 'timeless' || how === 'unfenced') && { clock: { now: Date.now, monotonic: () => 0 } }),
  ...(role !== 'work' && { schedule: false }),
})
const told = createInterface(process.stdin)[Symbol.asyncIterator]()
const LEASE = { lease: 600, drain: 0 }
const AT_ONCE = 4

if (role === 'offer') {
  say('ready')
  const offer = async (n: number) => {
    const { id } = await store.queue<number>('items').offer(n, optionsOf(n))
    note({ what: 'offered', n, id })
  }
  for (let n = 0; n < ITEMS; n += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => offer(n + i)))
} else if (role === 'hold') {
  const ended = Promise.withResolvers<void>()
  const worker = store.queue('held').work(async ({ fence }) => {
    say('begun', fence)
    await told.next()
    ended.resolve()
  }, LEASE)
  await ended.promise
  while (worker.stats().running > 0) await wait(5)
  say('ended', worker.stats())
} else if (role === 'quick') {
  store.queue<number>('quick').work(({ payload: n, id, fence }) => note({ what: 'began', n, id, fence }), {
    concurrency: QUICK_CONCURRENCY,
    ...(how === 'loose' && { unwritten: LOOSE_UNWRITTEN }),
  })
  await told.next()
} else {
  const worker = store.queue<number>('items').work(
    async (claim) => {
      const { payload: n, id, fence } = claim
      note({ what: 'began', n, id, fence })
      if (n === POISON) process.kill(process.pid, 'SIGKILL')
      await wait(100 + (fence % 4) * 100)
      // Half of them say themselves that they are done, and hear that they are.
      if (n % 2 === 1) return
      await claim.complete()
      note({ what: 'ended', n, id, fence })
    },
    { ...LEASE, concurrency: 4 },
  )
  store.queue('ticks').work(({ id, fence, origin }) => note({ what: 'ticked', n: origin?.at ?? 0, id, fence }), LEASE)
  say('ready')
  await told.next()
  say('stats', worker.stats())
}
await store.close()
process.stdin.destroy()
