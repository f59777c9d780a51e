// A writer is killed without warning, again and again. Every acknowledged event is there, every other one is there once or not at all,
// the chain is intact and the rows are its fold.

import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { chance } from '../../src/conformance/chance.ts'
import { open, type Receipt, type Store, type TenantId } from '../../src/index.ts'
import { expectSound, tempFile } from '../support/engines.ts'
import { programAt } from '../support/programs.ts'
import { rounds, SEED } from '../support/rounds.ts'

const LANES = 2
const KILLS_PER_LANE = rounds(6, 153)
const LOOK_EVERY = rounds(3, 17)

class Ledger {
  readonly begun = new Set<number>()
  readonly acked = new Map<number, { seq: number; hash: string }>()
  kills = 0
  inFlight = 0

  unacked(): number[] {
    return [...this.begun].filter((n) => !this.acked.has(n))
  }
}

/** One life of the writer: started, listened to, killed at a random moment. */
function live(path: string, ledger: Ledger, killAfterMs: number, mode = 'honest'): Promise<void> {
  const writer = programAt(new URL('./writer.ts', import.meta.url))
  const first = String(Math.max(-1, ...ledger.begun) + 1)
  // Only what this life began counts as in flight when it ends.
  const begun: number[] = []
  const child = spawn(process.execPath, [writer, path, first, ledger.unacked().join(','), mode], { stdio: ['ignore', 'pipe', 'inherit'] })
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() as string
    for (const line of lines) {
      const [what, n, seq, hash] = line.split(' ')
      if (what === 'ready') setTimeout(() => child.kill('SIGKILL'), killAfterMs)
      if (what === 'b') {
        ledger.begun.add(Number(n))
        begun.push(Number(n))
      }
      if (what === 'a') ledger.acked.set(Number(n), { seq: Number(seq), hash: hash as string })
    }
  })
  // Some die while they open the store, before they said anything.
  if (killAfterMs < 2) setTimeout(() => child.kill('SIGKILL'), 60 + killAfterMs * 60)
  return new Promise((resolve, reject) =>
    child.on('close', (code, signal) => {
      if (signal !== 'SIGKILL') reject(new Error(`the writer ended by itself with ${code}`))
      ledger.kills++
      if (begun.some((n) => !ledger.acked.has(n))) ledger.inFlight++
      resolve()
    }),
  )
}

interface Verdict {
  readonly lost: readonly number[]
  readonly twice: readonly number[]
  readonly landed: number
}

async function judge(store: Store, ledger: Ledger): Promise<Verdict> {
  const found = new Map<number, { seq: number; hash: string }>()
  const twice: number[] = []
  for await (const e of store.events({ types: ['task.done'] })) {
    const { n } = e.data as { n: number }
    if (found.has(n)) twice.push(n)
    found.set(n, { seq: e.seq, hash: e.hash })
  }
  const lost = [...ledger.acked].filter(([n, { seq, hash }]) => found.get(n)?.seq !== seq || found.get(n)?.hash !== hash).map(([n]) => n)
  return { lost, twice, landed: ledger.unacked().filter((n) => found.has(n)).length }
}

const receiptsOf = (ledger: Ledger): Receipt[] =>
  [...ledger.acked.values()].map(({ seq, hash }) => ({ seq, hash, id: '' as Receipt['id'], tenant: 'main' as TenantId }))

test('nothing acknowledged is lost, nothing is written twice, however the writer dies', async () => {
  const totals = { kills: 0, inFlight: 0, acked: 0, unacked: 0, landed: 0 }
  await Promise.all(
    Array.from({ length: LANES }, async (_, i) => {
      const { int } = chance(SEED + i)
      const path = tempFile()
      const ledger = new Ledger()
      while (ledger.kills < KILLS_PER_LANE) {
        await live(path, ledger, int(450) / 10)
        if (ledger.kills % LOOK_EVERY !== 0) continue
        const store = await open(path)
        const verdict = await judge(store, ledger)
        expect(verdict).toMatchObject({ lost: [], twice: [] })
        totals.landed += verdict.landed
        totals.unacked += ledger.unacked().length
        const report = await store.verify({ receipts: receiptsOf(ledger) })
        expect(report).toMatchObject({ intact: true })
        await expectSound(store)
        await store.close()
      }
      totals.kills += ledger.kills
      totals.inFlight += ledger.inFlight
      totals.acked += ledger.acked.size
    }),
  )
  console.log(
    `crash, seed ${SEED}: ${totals.kills} kills, ${totals.inFlight} with a commit in flight; ${totals.acked} acked, ` +
      `${totals.unacked} unacked when looked at, ${totals.landed} of them landed; 0 lost, 0 twice`,
  )
  expect(totals.kills).toBe(LANES * KILLS_PER_LANE)
  expect(totals.inFlight).toBeGreaterThanOrEqual(totals.kills / 2)
  expect(totals.acked).toBeGreaterThan(0)
})

test('the judge catches a writer that says it before the store did', async () => {
  const path = tempFile()
  const ledger = new Ledger()
  for (let i = 0; i < 3; i++) await live(path, ledger, 20 + Math.random() * 20, 'lie')
  const store = await open(path)
  const { lost } = await judge(store, ledger)
  await store.close()
  expect(lost.length).toBeGreaterThan(0)
})

test('the judge catches an acknowledged event that is not there, and one that is there twice', async () => {
  const store = await open(tempFile())
  const session = await store.session('s')
  const { seq, hash } = await session.append('task.done', { n: 1 })
  await session.append('task.done', { n: 1 })
  const ledger = new Ledger()
  ledger.acked.set(1, { seq, hash })
  ledger.acked.set(2, { seq: 9, hash: '-' })
  expect(await judge(store, ledger)).toEqual({ lost: [1, 2], twice: [1], landed: 0 })
  await store.close()
})
