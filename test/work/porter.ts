// A program that works off queues until it is told to end, or killed. Everything it does outside adds a line to its outbox before it goes on.
// `work` carries parcels and hears the ticks of a job; `offer` offers the parcels; `hold` sits on one item until it is told to end it, says what came
// of it, and is paused in between; `letters` are worked off as quickly as can be, and with `loose` many at a time may be unwritten. With `timeless` it does not notice that it was paused, and with `unfenced` nobody asks whether what it holds is
// still its own: the control.

import { appendFileSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { sqliteBackend } from '../../src/backends/sqlite/backend.ts'
import { open } from '../../src/index.ts'
import { unfenced } from '../runs/unfenced.ts'
import { LETTERS_AT_A_TIME, LETTERS_LOOSE, type Line, optionsOf, PARCELS, POISON } from './parcels.ts'

const [url = '', outbox = '', role = 'work', how = ''] = process.argv.slice(2)

const say = (...words: unknown[]): void => void writeSync(1, `${JSON.stringify(words)}\n`)
const note = (line: Line): void => appendFileSync(outbox, `${JSON.stringify(line)}\n`)

const backend = url.startsWith('postgres:')
  ? await postgresBackend({ url, connections: 2 })
  : await sqliteBackend({ path: url, now: Date.now })
const store = await open({
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
    const { id } = await store.queue<number>('parcels').offer(n, optionsOf(n))
    note({ what: 'offered', n, id })
  }
  for (let n = 0; n < PARCELS; n += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => offer(n + i)))
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
} else if (role === 'letters') {
  store.queue<number>('letters').work(({ payload: n, id, fence }) => note({ what: 'began', n, id, fence }), {
    concurrency: LETTERS_AT_A_TIME,
    ...(how === 'loose' && { unwritten: LETTERS_LOOSE }),
  })
  await told.next()
} else {
  const parcels = store.queue<number>('parcels').work(
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
  say('stats', parcels.stats())
}
await store.close()
process.stdin.destroy()
