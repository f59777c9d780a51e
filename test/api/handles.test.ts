// Handles are logged by programs. They show what they stand for, and neither the store behind them nor its options.

import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { engines, later } from '../support/engines.ts'

const SECRET = 'a value that only the options of the store contain'

describe.each(engines)('on $name', (engine) => {
  test('a handle that is logged shows no option of the store', async () => {
    const store = await engine.open({ redact: { values: [SECRET] }, schedule: false })
    const session = await store.session('s')
    const lease = await (await store.session('other')).lease()
    const queue = store.queue('q')
    await queue.offer(1)
    const run = await session.run('r')
    const handles = {
      store,
      tenant: store.tenant('t'),
      session,
      lease,
      queue,
      claim: await queue.claim(),
      worker: queue.work(() => {}),
      run,
      begun: await run.begin('half'),
      child: await run.child('c'),
      node: store.work({ x: () => {} }),
      handle: await store.start('y', { session: 's' }),
      process: await store.processes.register('p', { kind: 'k', recovery: 'external' }),
      held: await (await store.processes.register('h', { kind: 'k', recovery: 'external' })).claim(),
      canvas: session.canvas('c'),
      thread: session.thread,
      collection: store.vectors('v', { dimensions: 2, metric: 'cosine' }),
    }
    later(() => Promise.all([handles.worker.close(), handles.node.close()]))
    for (const [name, handle] of Object.entries(handles)) {
      expect(JSON.stringify(handle) ?? '', name).not.toContain(SECRET)
      expect(inspect(handle, { depth: 20 }), name).not.toContain(SECRET)
    }
  })
})
