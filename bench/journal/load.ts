// Load that does not wait for answers: the latency of writes at 70 % of what the store can do, and what becomes of three times as much.

import { copyFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { InkError, open, type Session, type Store } from '../../src/index.ts'
import { rate } from '../lib/rounds.ts'
import { percentile, spread } from '../lib/stats.ts'
import { number } from '../lib/table.ts'
import { atLeast, type Findings, type Settings, type Workload } from '../lib/workload.ts'
import { largeEvents, largeFile, MANY, sessionKey } from './files.ts'
import { payload, TYPE } from './payload.ts'

const MIB = 2 ** 20

export const load: Workload = {
  name: 'load',
  title: 'write latency under open-loop load on the large file, checkpoints included, and overload',
  run: async (settings: Settings): Promise<Findings> => {
    const { quick, rounds } = settings
    const file = await largeFile(settings, MANY)
    const path = join(settings.folder, 'load.db')
    copyFileSync(file.path, path)
    const store = await open(path)
    const found = await Promise.all(Array.from({ length: MANY }, (_, i) => store.sessions.find(sessionKey(i))))
    const sessions = found.filter((s) => s !== undefined)
    const append = (i: number) => (sessions[(i * 7919) % sessions.length] as Session).append(TYPE, payload(i))

    let i = 0
    await rate(64, 1000, () => append(i++))
    const slices: number[] = []
    for (let n = 0; n < rounds; n++) slices.push(await rate(64, quick ? 500 : 1000, () => append(i++)))
    const sustained = spread(slices)
    const wal = watchSize(`${path}-wal`, quick ? 700 : 2000)
    const steady = await offer(store, { perSecond: sustained.median * 0.7, sliceMs: quick ? 700 : 2000, slices: rounds }, append)
    const walPeaks = spread(
      wal
        .stop()
        .slice(0, rounds)
        .map((bytes) => bytes / MIB),
    )
    const over = await offer(store, { perSecond: sustained.median * 3, sliceMs: quick ? 500 : 800, slices: rounds }, append)
    await store.close()

    const latency = (part: number) => spread(steady.latencies.map((of) => percentile(of, part)))
    const p99 = percentile(steady.latencies.flat(), 0.99)
    const goodput = spread(over.goodput)
    const ratio = spread(over.goodput.map((n) => n / sustained.median))
    const refusals = over.refusals.filter((of) => of.length > 0)
    const heard = spread(refusals.map((of) => percentile(of, 0.99)))
    return {
      measures: [
        { what: 'sustained, 64 callers', unit: 'ev/s', ours: sustained },
        { what: 'at 70 %: p50', unit: 'ms', ours: latency(0.5) },
        { what: 'at 70 %: p95', unit: 'ms', ours: latency(0.95) },
        { what: 'at 70 %: p99', unit: 'ms', ours: latency(0.99), goal: { text: '≤ 25 ms', met: p99 <= 25 } },
        { what: 'at 70 %: slowest', unit: 'ms', ours: latency(1) },
        { what: 'at 70 %: largest write-ahead log', unit: 'MiB', ours: walPeaks, goal: { text: '≤ 64 MiB', met: walPeaks.most <= 64 } },
        { what: 'at 3 ×: goodput', unit: 'ev/s', ours: goodput, peer: sustained, peerName: 'sustained', ratio, goal: atLeast(0.9, ratio) },
        {
          what: 'at 3 ×: a refusal is heard after, p99',
          unit: 'ms',
          ours: heard,
          goal: { text: '≤ 5 ms', met: refusals.length > 0 && heard.most <= 5 },
        },
      ],
      notes: [
        `${number(largeEvents(settings))} events over ${number(MANY)} sessions; latency counts from the moment a write was due to its receipt; p99 of all at 70 %: ${number(p99)} ms`,
        `at 70 %: ${tally(steady)}`,
        `at 3 ×: ${tally(over)}`,
        'the load is made in the store’s own process and shares its thread: every turn of the loop calls all that is due, one microtask each, much as requests on sockets would',
        'the rounds are slices of one run; a refusal counts from the call to its rejection',
      ],
    }
  },
}

const tally = ({ due, called, lag, latencies, refusals }: Offered): string =>
  `${number(due)} due, ${number(called)} called in time, ${number(latencies.flat().length)} saved, ${number(refusals.flat().length)} refused; the latest call came ${number(lag)} ms late`

interface Offered {
  readonly due: number
  readonly called: number
  /** From the moment a write was due to its receipt, by the slice it was due in. */
  readonly latencies: number[][]
  /** From the call to the refusal, by slice. */
  readonly refusals: number[][]
  /** Receipts a second, by the slice they came in. */
  readonly goodput: number[]
  /** The longest a call came after it was due. */
  readonly lag: number
}

interface Offer {
  readonly perSecond: number
  readonly sliceMs: number
  readonly slices: number
}

/** Calls at fixed moments, whatever has become of the calls before. */
async function offer(store: Store, { perSecond, sliceMs, slices }: Offer, append: (i: number) => Promise<unknown>): Promise<Offered> {
  const ms = sliceMs * slices
  const due = Math.floor((perSecond * ms) / 1000)
  const found = { latencies: lists(slices), refusals: lists(slices), goodput: new Array<number>(slices).fill(0) }
  const first = (await store.head()).seq
  const failed: unknown[] = []
  let called = 0
  let answered = 0
  let lag = 0
  const start = performance.now()
  const sliceAt = (time: number) => Math.floor((time - start) / sliceMs)
  const call = (i: number, dueAt: number) => {
    const from = performance.now()
    lag = Math.max(lag, from - dueAt)
    append(first + i).then(
      () => {
        const now = performance.now()
        answered++
        found.latencies[sliceAt(dueAt)]?.push(now - dueAt)
        if (sliceAt(now) < slices) found.goodput[sliceAt(now)] = (found.goodput[sliceAt(now)] as number) + 1000 / sliceMs
      },
      (error: unknown) => {
        answered++
        if (error instanceof InkError && error.code === 'OVERLOADED') found.refusals[sliceAt(dueAt)]?.push(performance.now() - from)
        else failed.push(error)
      },
    )
  }
  while (called < due && performance.now() - start < ms) {
    const dueNow = Math.min(due, Math.floor(((performance.now() - start) * perSecond) / 1000))
    while (called < dueNow && performance.now() - start < ms) {
      call(called, start + (called * 1000) / perSecond)
      called++
      await undefined
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  while (answered < called) await new Promise((resolve) => setTimeout(resolve, 5))
  if (failed.length > 0) throw failed[0]
  return { due, called, lag, ...found }
}

const lists = (count: number): number[][] => Array.from({ length: count }, () => [])

/** The largest size in every slice of time. */
function watchSize(path: string, sliceMs: number): { stop(): number[] } {
  const start = performance.now()
  const most: number[] = []
  const look = () => {
    const slice = Math.floor((performance.now() - start) / sliceMs)
    most[slice] = Math.max(most[slice] ?? 0, statSync(path, { throwIfNoEntry: false })?.size ?? 0)
  }
  const timer = setInterval(look, 20)
  return {
    stop: () => {
      clearInterval(timer)
      return most.filter((size) => size !== undefined)
    },
  }
}
