// The threads and the program they belong to: whoever waits for an answer or for the end gets it.

import { spawnSync } from 'node:child_process'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { later, tempFile } from '../../../test/support/engines.ts'
import { open } from '../../index.ts'
import { fileBackend } from './backend.ts'
import { type CheckpointOrder, CheckpointThreads } from './checkpoint-thread.ts'

const module = new URL('./checkpoint-thread.ts', import.meta.url).href

test('a program that ends by closing the thread waits until it is closed, whatever answer comes meanwhile', () => {
  const order = JSON.stringify({ name: tempFile(), readOnly: false, synchronous: 'normal', work: 'copy' })
  const program = `
    import { CheckpointThread } from '${module}'
    const thread = new CheckpointThread()
    await thread.ask(${order})
    const answer = thread.ask(${order})
    await new Promise((resolve) => setImmediate(resolve))
    // Long enough for the answer to be there before anybody looks.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
    const closing = thread.close()
    console.log(JSON.stringify(await answer))
    await closing
    console.log('closed')`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  expect([status, stdout.trim().split('\n').at(-1), stderr]).toEqual([0, 'closed', ''])
})

/** The empty file of a store, whose check lasts until the test lets go of its lock: a large file would only be slow. */
async function lockedFile(): Promise<{ readonly check: CheckpointOrder; unlock(): void }> {
  const name = tempFile()
  await (await fileBackend({ path: name })).close()
  const holder = new DatabaseSync(name)
  later(() => holder.close())
  // A reader of a write-ahead log waits for nobody, so the file gets a rollback journal.
  holder.exec('pragma journal_mode = delete; begin exclusive')
  return { check: { name, readOnly: false, synchronous: 'normal', work: 'check' }, unlock: () => holder.exec('commit') }
}

const threadsHere = (): CheckpointThreads => {
  const threads = new CheckpointThreads()
  later(() => threads.close())
  return threads
}

test('the event loop goes on while a file is checked', async () => {
  const { check, unlock } = await lockedFile()
  const threads = threadsHere()
  const checking = threads.ask(check)
  // The lock is given up by the event loop: a check that held up the loop would never get it.
  await new Promise((resolve) => setTimeout(resolve, 20))
  unlock()
  expect(await checking).toEqual({ damage: ['ok'] })
})

test('a check on the event loop holds it up until the lock times out: the control for the above', async () => {
  const { check, unlock } = await lockedFile()
  const here = new DatabaseSync(check.name, { timeout: 200 })
  later(() => here.close())
  let ticks = 0
  setTimeout(() => ticks++, 20)
  expect(() => here.prepare('pragma integrity_check(20)').all()).toThrow('locked')
  expect(ticks).toBe(0)
  unlock()
})

test('the log of a store is copied while the pages of a file are checked', async () => {
  const { check, unlock } = await lockedFile()
  const threads = threadsHere()
  const backend = await fileBackend({ path: tempFile(), threads, checkpoint: { begin: 1, short: 0, most: 1000 } })
  const store = await open({ backend })
  later(() => store.close())
  const session = await store.session('s')
  let checked = false
  const checking = threads.ask(check).finally(() => {
    checked = true
  })
  const text = 'x'.repeat(100_000)
  for (let n = 0; n < 5; n++) await session.append('page.written', { n, text })
  await expect.poll(() => backend.checkpoints().passes).toBeGreaterThan(0)
  expect(checked).toBe(false)
  unlock()
  expect(await checking).toEqual({ damage: ['ok'] })
})

test('a second check waits for the first one: the control for the above', async () => {
  const [{ check, unlock }, other] = [await lockedFile(), await lockedFile()]
  other.unlock()
  const threads = threadsHere()
  const answered: string[] = []
  const checks = [threads.ask(check).then(() => answered.push('first')), threads.ask(other.check).then(() => answered.push('second'))]
  await threads.ask({ ...other.check, work: 'copy' })
  expect(answered).toEqual([])
  unlock()
  await Promise.all(checks)
  expect(answered).toEqual(['first', 'second'])
})
