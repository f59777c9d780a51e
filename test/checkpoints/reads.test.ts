// A run that restores reads only what came after its checkpoint, however long its tape is.

import { expect, test } from 'vitest'
import { memoryBackend } from '../../src/backends/memory/backend.ts'
import { nodeEnvironment } from '../../src/environment.ts'
import { open, type Run } from '../../src/index.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { later } from '../support/cleanups.ts'
import { expectSound } from '../support/engines.ts'

const EVERY = 100

/** Checkpoints every hundred effects, and goes on where it was. */
async function program(run: Run, upTo: number): Promise<void> {
  const { done = 0 } = (await run.restore<{ done: number }>()) ?? {}
  for (let n = done; n < upTo; n++) {
    if (n > done && n % EVERY === 0) await run.checkpoint({ done: n })
    await run.effect('work', () => n)
  }
}

test('a run with a checkpoint every 100 effects resumes with the reads of a run of 100 effects', async () => {
  const real = memoryBackend(nodeEnvironment)
  let events = 0
  const page: Backend['journal']['page'] = async (...asked) => {
    const found = await real.journal.page(...asked)
    events += found.events.length
    return found
  }
  const store = await open({ backend: { ...real, journal: { ...real.journal, page } } })
  later(() => store.close())
  const resumed = async (key: string, effects: number, resume: (run: Run) => Promise<void>): Promise<number> => {
    const session = await store.session(key)
    const first = await session.run('r')
    await program(first, effects)
    await first.close()
    events = 0
    const next = await session.run('r')
    await resume(next)
    await next.effect('next', () => 'new')
    const read = events
    await next.finish()
    return read
  }
  const short = await resumed('short', EVERY, (run) => program(run, EVERY))
  expect(short).toBeGreaterThan(EVERY)
  expect(await resumed('long', 3000, (run) => program(run, 3000))).toBeLessThanOrEqual(short * 1.3)
  // The control: without restoring, the whole tape is read.
  const whole = await resumed('without', 3000, async (run) => {
    for (let n = 0; n < 3000; n++) {
      if (n > 0 && n % EVERY === 0) await run.checkpoint({ done: n })
      await run.effect('work', () => 'not called')
    }
  })
  expect(whole).toBeGreaterThan(3000)
  await expectSound(store)
})
