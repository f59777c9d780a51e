// A program that puts blobs is killed again and again. What it was told is kept is there, whole; and whatever has a digest for its name has
// the bytes that the digest names.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chance } from '../../src/conformance/chance.ts'
import { codeOf, openIn, tempFile, tempFolder } from '../support/engines.ts'
import { programAt } from '../support/programs.ts'
import { rounds, SEED } from '../support/rounds.ts'
import { blobOf } from './blob-of.ts'

const KILLS = rounds(4, 60)

type Layout = 'single' | 'tenant'

class Ledger {
  readonly begun = new Set<number>()
  readonly acked = new Set<number>()
  inFlight = 0
}

/** One life of the writer: started, listened to, killed a moment after it is ready. */
function live(path: string, layout: Layout, ledger: Ledger, killAfterMs: number, mode = 'honest'): Promise<void> {
  const writer = programAt(new URL('./blob-writer.ts', import.meta.url))
  const first = String(Math.max(-1, ...ledger.begun) + 1)
  const begun: number[] = []
  const child = spawn(process.execPath, [writer, path, layout, first, mode], { stdio: ['ignore', 'pipe', 'inherit'] })
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() as string
    for (const line of lines) {
      const [what, n] = line.split(' ')
      if (what === 'ready') setTimeout(() => child.kill('SIGKILL'), killAfterMs)
      if (what === 'b') {
        ledger.begun.add(Number(n))
        begun.push(Number(n))
      }
      if (what === 'a') ledger.acked.add(Number(n))
    }
  })
  return new Promise((resolve, reject) =>
    child.on('close', (code, signal) => {
      if (signal !== 'SIGKILL') reject(new Error(`the writer ended by itself with ${code}`))
      if (begun.some((n) => !ledger.acked.has(n))) ledger.inFlight++
      resolve()
    }),
  )
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

interface Verdict {
  /** Acknowledged, and not there or not whole. */
  readonly lost: readonly number[]
  /** Files that have a digest for their name and other bytes. */
  readonly torn: readonly string[]
}

async function judge(path: string, layout: Layout, ledger: Ledger): Promise<Verdict> {
  const store = await openIn(path, { layout })
  const lost: number[] = []
  for (const n of ledger.acked) {
    const bytes = await store.blobs.get(sha256(blobOf(n))).catch(() => undefined)
    if (!bytes || !Buffer.from(bytes).equals(blobOf(n))) lost.push(n)
  }
  await store.close()
  const folder = layout === 'tenant' ? path : `${path}.blobs`
  const torn = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name))
    .filter((entry) => sha256(readFileSync(join(entry.parentPath, entry.name))) !== entry.name)
    .map((entry) => entry.name)
  return { lost, torn }
}

test.each([
  ['beside one file', 'single'],
  ['in a folder of tenants', 'tenant'],
] as const)('every blob that was acknowledged is there and whole, however the writer dies: %s', async (_, layout) => {
  const path = layout === 'tenant' ? tempFolder() : tempFile()
  const ledger = new Ledger()
  const { int } = chance(SEED)
  for (let kills = 0; kills < KILLS; kills++) await live(path, layout, ledger, int(120))
  expect(await judge(path, layout, ledger)).toEqual({ lost: [], torn: [] })
  await using store = await openIn(path, { layout })
  await store.collect()
  const { items } = await store.blobs.list({ last: 1000 })
  expect((await store.measure()).bytes.blobs).toBe(items.reduce((sum, { stored }) => sum + stored, 0))
  console.log(
    `blobs, seed ${SEED}: ${KILLS} kills, ${ledger.inFlight} with a put in flight; ${ledger.acked.size} of ${ledger.begun.size} acknowledged`,
  )
  expect(ledger.inFlight).toBeGreaterThanOrEqual(KILLS / 2)
  expect(ledger.acked.size).toBeGreaterThan(0)
})

test('every blob that an event refers to is there, however a program that puts and collects dies', async () => {
  const path = tempFile()
  const ledger = new Ledger()
  const { int } = chance(SEED)
  for (let kills = 0; kills < KILLS; kills++) await live(path, 'single', ledger, 100 + int(200), 'collect')
  expect(await judge(path, 'single', ledger)).toEqual({ lost: [], torn: [] })
  expect(ledger.acked.size).toBeGreaterThan(0)
  const store = await openIn(path)
  await store.collect({ grace: 0 })
  const { retained } = await store.collect({ grace: 0 })
  // Beside the acknowledged ones there may be one for each put that was killed after its commit.
  expect(retained.blobs).toBeGreaterThanOrEqual(ledger.acked.size)
  expect(retained.blobs).toBeLessThanOrEqual(ledger.begun.size)
  for (const n of ledger.begun) expect(await codeOf(store.blobs.get(sha256(blobOf(n + 1_000_000))))).toBe('BLOB_UNKNOWN')
})

test('the judge catches a writer that writes in place, and one that says it before the store did', async () => {
  const path = tempFile()
  const ledger = new Ledger()
  const store = await openIn(path)
  await store.blobs.put(blobOf(1))
  await store.close()
  ledger.begun.add(1)
  ledger.acked.add(1)
  expect(await judge(path, 'single', ledger)).toEqual({ lost: [], torn: [] })
  const torn = 2
  await live(path, 'single', ledger, 0, 'in place')
  expect(await judge(path, 'single', ledger)).toEqual({ lost: [], torn: [sha256(blobOf(torn))] })
  await live(path, 'single', ledger, 0, 'lie')
  expect((await judge(path, 'single', ledger)).lost).toEqual([torn + 1])
})
