// A worker process with quick handlers is killed. The items it completed and had not written yet are delivered again, and those are few.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { expectSound, later, openIn, tempDatabase, tempFile, tempFolder } from '../support/engines.ts'
import { programAt } from '../support/programs.ts'
import { rounds } from '../support/rounds.ts'
import { QUICK_CONCURRENCY } from './worker-items.ts'

const WORKER_PROCESS = programAt(new URL('./worker-process.ts', import.meta.url))
const ITEMS = rounds(500, 8000)
const KILLS = rounds(1, 8)

describe.each(['sqlite', 'postgres'] as const)('on %s', (engine) => {
  test.each([
    ['at most `concurrency` are delivered again', ''],
    ['many more are delivered again when more completions may be unwritten', 'loose'],
  ])('of the items of a worker that is killed, %s', async (_, how) => {
    const url = engine === 'sqlite' ? tempFile() : await tempDatabase()
    const outbox = join(tempFolder(), 'outbox')
    const store = await openIn(url, { schedule: false })
    const items = store.queue<number>('quick')
    for (let n = 0; n < ITEMS; n += 500) await Promise.all(Array.from({ length: 500 }, (_, i) => items.offer(n + i, { attempts: 100 })))
    const handled = () => (existsSync(outbox) ? readFileSync(outbox, 'utf8').trim().split('\n').length : 0)
    for (let life = 0; life <= KILLS; life++) {
      const child = spawn(process.execPath, [WORKER_PROCESS, url, outbox, 'quick', how], { stdio: ['pipe', 'inherit', 'inherit'] })
      later(() => child.kill('SIGKILL'))
      const end = once(child, 'close')
      if (life === KILLS) {
        await expect
          .poll(async () => (await items.stats()).ready + (await items.stats()).claimed, { timeout: 600_000, interval: 50 })
          .toBe(0)
        child.stdin.write('end\n')
      } else {
        const before = handled()
        while (handled() < before + 200 && child.exitCode === null) await wait(1)
        child.kill('SIGKILL')
      }
      await end
    }
    const lines = readFileSync(outbox, 'utf8').trim().split('\n')
    const again = lines.length - ITEMS
    expect(new Set(lines.map((line) => (JSON.parse(line) as { n: number }).n)).size).toBe(ITEMS)
    if (how === '') expect(again).toBeLessThanOrEqual(KILLS * QUICK_CONCURRENCY)
    else expect(again).toBeGreaterThan(KILLS * QUICK_CONCURRENCY)
    await expectSound(store)
  })
})
