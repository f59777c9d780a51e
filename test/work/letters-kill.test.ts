// A process with quick handlers is killed again and again: what it had done and could not write comes again, and that is not much.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { expectSound, later, openIn, tempDatabase, tempFile, tempFolder } from '../support/engines.ts'
import { rounds } from '../support/rounds.ts'
import { LETTERS_AT_A_TIME } from './parcels.ts'

const PORTER = fileURLToPath(new URL('./porter.ts', import.meta.url))
const LETTERS = rounds(1000, 8000)
const KILLS = rounds(1, 8)

describe.each(['sqlite', 'postgres'] as const)('on %s', (engine) => {
  test.each([
    ['at most as many come again as were worked on at a time', ''],
    ['many more would, where more may be unwritten', 'loose'],
  ])('of letters whose carrier is killed, %s', async (_, how) => {
    const url = engine === 'sqlite' ? tempFile() : await tempDatabase()
    const outbox = join(tempFolder(), 'outbox')
    const store = await openIn(url, { schedule: false })
    const letters = store.queue<number>('letters')
    for (let n = 0; n < LETTERS; n += 500) await Promise.all(Array.from({ length: 500 }, (_, i) => letters.offer(n + i, { attempts: 100 })))
    const carried = () => (existsSync(outbox) ? readFileSync(outbox, 'utf8').trim().split('\n').length : 0)
    for (let life = 0; life <= KILLS; life++) {
      const child = spawn(process.execPath, [PORTER, url, outbox, 'letters', how], { stdio: ['pipe', 'inherit', 'inherit'] })
      later(() => child.kill('SIGKILL'))
      const end = once(child, 'close')
      if (life === KILLS) {
        await expect
          .poll(async () => (await letters.stats()).ready + (await letters.stats()).claimed, { timeout: 60_000, interval: 50 })
          .toBe(0)
        child.stdin.write('end\n')
      } else {
        const before = carried()
        while (carried() < before + 200 && child.exitCode === null) await wait(1)
        child.kill('SIGKILL')
      }
      await end
    }
    const lines = readFileSync(outbox, 'utf8').trim().split('\n')
    const again = lines.length - LETTERS
    expect(new Set(lines.map((line) => (JSON.parse(line) as { n: number }).n)).size).toBe(LETTERS)
    if (how === '') expect(again).toBeLessThanOrEqual(KILLS * LETTERS_AT_A_TIME)
    else expect(again).toBeGreaterThan(KILLS * LETTERS_AT_A_TIME)
    await expectSound(store)
  })
})
