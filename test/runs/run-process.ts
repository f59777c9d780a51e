// A process that executes a run until it is killed. Every effect appends a line to the outbox file and flushes it before it returns.
// `plan` works through a long run. `hold` stays in one effect until stdin says to end it, and prints the outcome; the test pauses the process
// meanwhile. Controls: `timeless` does not notice the pause, `bare` calls effects outside the run, `unfenced` writes without fences.

import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { sqliteBackend } from '../../src/backends/sqlite/backend.ts'
import { open } from '../../src/index.ts'
import { unfenced } from './unfenced.ts'

const [url = '', file = '', what = 'plan', how = ''] = process.argv.slice(2)
const STEPS = 60

const say = (...words: unknown[]): void => void writeSync(1, `${JSON.stringify(words)}\n`)

function send(key: string): void {
  const outbox = openSync(file, 'a')
  writeSync(outbox, `${key}\n`)
  fsyncSync(outbox)
  closeSync(outbox)
}

const backend = url.startsWith('postgres:')
  ? await postgresBackend({ url, connections: 2 })
  : await sqliteBackend({ path: url, now: Date.now })
const store = await open({
  logger: false,
  backend: how === 'unfenced' ? unfenced(backend) : backend,
  ...(what === 'hold' && { lease: { ttl: 1500, renew: 500 } }),
  ...((how === 'timeless' || how === 'unfenced') && { clock: { now: Date.now, monotonic: () => 0 } }),
})
const session = await store.session('s')
const run = await session.run('plan', { wait: '20s' })
say('ready', run.fence)

if (what === 'hold') {
  const told = createInterface(process.stdin)[Symbol.asyncIterator]()
  const ended = run.effect('charge', async () => {
    say('begun')
    await told.next()
    return 'by the first'
  })
  const outcome = await ended.catch((error: { code?: string }) => error.code)
  const after = await run.effect('after', () => 'by the first').catch((error: { code?: string }) => error.code)
  say('ended', outcome, after)
} else if (run.state !== 'done') {
  for (let i = 0; i < STEPS; i++) {
    if (how === 'bare') send(`step ${i}`)
    await run.effect(`step ${i}`, () => {
      if (how !== 'bare') send(`step ${i}`)
      return i
    })
    say('step', i)
    if (i % 7 === 0) await run.sleep(1)
    if (i % 5 === 0)
      await run.all({
        left: (r) => r.effect(`left ${i}`, () => send(`left ${i}`)),
        right: (r) => r.effect(`right ${i}`, () => send(`right ${i}`)),
      })
  }
  await run.finish({ steps: STEPS })
}
say('done')
await store.close()
