// The thread and the program it belongs to: whoever waits for its end is told of it.

import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { tempFile } from '../../../test/support/engines.ts'

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
