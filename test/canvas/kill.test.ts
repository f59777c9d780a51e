// A program that patches a canvas, takes snapshots and compacts them is killed again and again. Every acknowledged version is there.

import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { chance } from '../../src/conformance/chance.ts'
import { expectSound, openIn, tempDatabase, tempFile } from '../support/engines.ts'
import { programAt } from '../support/programs.ts'
import { rounds, SEED } from '../support/rounds.ts'

/** One life of the writer: killed a moment after it announced `versions`. Returns the last version that it announced. */
function live(url: string, killAfterMs: number, mode: 'honest' | 'early', versions = 1): Promise<number> {
  const writer = programAt(new URL('./writer.ts', import.meta.url))
  const child = spawn(process.execPath, [writer, url, mode], { stdio: ['ignore', 'pipe', 'inherit'] })
  let rest = ''
  let last = 0
  let announced = 0
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() as string
    for (const line of lines) {
      if (!line.startsWith('a ')) continue
      if (++announced === versions) setTimeout(() => child.kill('SIGKILL'), killAfterMs)
      last = Number(line.slice(2))
    }
  })
  return new Promise((resolve, reject) =>
    child.on('close', (code, signal) =>
      signal === 'SIGKILL' ? resolve(last) : reject(new Error(`the writer ended by itself with ${code}`)),
    ),
  )
}

/** The versions up to the last announced one that are not as they were written. */
async function lostOf(url: string, announced: number): Promise<readonly number[]> {
  const store = await openIn(url)
  await store.collect({ grace: 0 })
  const canvas = (await store.session('s')).canvas('plan')
  const lost: number[] = []
  for (let version = 1; version <= announced; version++) {
    const found = (await canvas.at({ version }))?.document as { n?: number } | undefined
    if (found?.n !== version) lost.push(version)
  }
  await expectSound(store)
  await store.close()
  return lost
}

const places = [
  ['SQLite', async () => tempFile(), rounds(3, 40)],
  ['PostgreSQL', tempDatabase, rounds(2, 20)],
] as const

test.each(places)('every acknowledged version is there, however the writer dies: %s', async (name, place, kills) => {
  const url = await place()
  const { int } = chance(SEED)
  let announced = 0
  for (let i = 0; i < kills; i++) announced = Math.max(announced, await live(url, int(150), 'honest'))
  expect(await lostOf(url, announced)).toEqual([])
  console.log(`canvas on ${name}, seed ${SEED}: ${kills} kills; ${announced} versions acknowledged`)
  expect(announced).toBeGreaterThanOrEqual(kills)
})

test.each(places.slice(0, 1))('a writer that announces versions before it writes them is found out: %s', async (_, place) => {
  const url = await place()
  const announced = await live(url, 50, 'early', 3)
  expect(await lostOf(url, announced)).toContain(announced)
})
