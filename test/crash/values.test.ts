// A program that writes values and collects garbage is killed again and again. Every value that an acknowledged event refers to is there.

import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { chance } from '../../src/conformance/chance.ts'
import { expectSound, openIn, tempDatabase, tempFile } from '../support/engines.ts'
import { programAt } from '../support/programs.ts'
import { rounds, SEED } from '../support/rounds.ts'

const itemsOf = (list: number) =>
  Array.from({ length: 8 }, (_, i) => ({ role: 'user', content: `${list}/${i} ${'lorem ipsum '.repeat(5 + ((list * 7 + i) % 30))}` }))

/** One life of the writer: started, listened to, killed a moment after its first acknowledgement or `killAfterMs` after it is ready. */
function live(url: string, acked: Map<number, string>, killAfterMs: number, mode = 'honest'): Promise<void> {
  const writer = programAt(new URL('./value-writer.ts', import.meta.url))
  const first = String(Math.max(-1, ...acked.keys()) + 100)
  const child = spawn(process.execPath, [writer, url, first, mode], { stdio: ['ignore', 'pipe', 'inherit'] })
  let rest = ''
  let told = 0
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() as string
    for (const line of lines) {
      const [what, n, ref = ''] = line.split(' ')
      if (what !== 'a') continue
      acked.set(Number(n), ref)
      if (++told === 1) setTimeout(() => child.kill('SIGKILL'), killAfterMs)
    }
  })
  return new Promise((resolve, reject) =>
    child.on('close', (code, signal) => (signal === 'SIGKILL' ? resolve() : reject(new Error(`the writer ended by itself with ${code}`)))),
  )
}

async function lostOf(url: string, acked: ReadonlyMap<number, string>): Promise<readonly number[]> {
  const store = await openIn(url)
  await store.collect({ grace: 0 })
  const lost: number[] = []
  for (const [list, ref] of acked) {
    const found = await store.values.get(ref).catch(() => undefined)
    if (JSON.stringify(found) !== JSON.stringify(itemsOf(list))) lost.push(list)
  }
  const { retained } = await store.collect({ grace: 0, dryRun: true })
  expect(retained.nodes, 'what nobody refers to is gone').toBe(retained.by.events)
  await expectSound(store)
  await store.close()
  return lost
}

test.each([
  ['SQLite', async () => tempFile(), rounds(3, 40)],
  ['PostgreSQL', tempDatabase, rounds(2, 20)],
] as const)('every value that an acknowledged event refers to is there, however the writer dies: %s', async (name, place, kills) => {
  const url = await place()
  const acked = new Map<number, string>()
  const { int } = chance(SEED)
  for (let i = 0; i < kills; i++) await live(url, acked, int(150))
  expect(await lostOf(url, acked)).toEqual([])
  console.log(`values on ${name}, seed ${SEED}: ${kills} kills; ${acked.size} lists acknowledged`)
  expect(acked.size).toBeGreaterThanOrEqual(kills)
})

test('the judge catches a writer whose events do not refer to what it acknowledges', async () => {
  const path = tempFile()
  const acked = new Map<number, string>()
  await live(path, acked, 0, 'blind')
  expect((await lostOf(path, acked)).length).toBeGreaterThan(0)
})
