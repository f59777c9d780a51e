// Load that does not wait for answers: the latency of writes at 70 % of what the store can do, and what becomes of three times as much.

import { copyFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { InkError, open, type Session, type Store } from '../../src/index.ts'
import { rate } from '../lib/rounds.ts'
import { percentile, type Spread, spread } from '../lib/stats.ts'
import { number } from '../lib/table.ts'
import { atLeast, atMost, type Findings, type Settings, type Workload } from '../lib/workload.ts'
import { largeEvents, largeFile, MANY, sessionKey } from './files.ts'
import { payload, TYPE } from './payload.ts'

const MIB = 2 ** 20

export const load: Workload = {
  name: 'load',
  title: 'write latency under open-loop load on the large file, checkpoints included, and overload',
  run: async (settings: Settings): Promise<Findings> => {
    const file = await largeFile(settings, MANY)
    const path = join(settings.folder, 'load.db')
    copyFileSync(file.path, path)
    const store = await open(path)
    const found = await Promise.all(Array.from({ length: MANY }, (_, i) => store.sessions.find(sessionKey(i))))
    const sessions = found.filter((s) => s !== undefined)
    const append = (i: number) => (sessions[(i * 7919) % sessions.length] as Session).append(TYPE, payload(i))
    const wal = watchSize(`${path}-wal`)

    let i = 0
    await rate(64, 1000, () => append(i++))
    const slices: number[] = []
    const slice = settings.quick ? 500 : 1000
    for (let n = 0; n < settings.rounds; n++) slices.push(await rate(64, slice, () => append(i++)))
    const sustained = spread(slices)
    const steady = await offer(store, { perSecond: sustained.median * 0.7, ms: settings.quick ? 4000 : 12_000 }, append)
    const walPeak = one(wal.stop() / MIB)
    const over = await offer(store, { perSecond: sustained.median * 3, ms: settings.quick ? 2000 : 4000 }, append)
    await store.close()

    const latency = (part: number) => one(percentile(steady.latencies, part))
    const goodput = over.inTime.map((n) => n / sustained.median)
    const heard = one(percentile(over.refusals, 0.99))
    const measures: Findings['measures'] = [
      { what: 'sustained, 64 callers', unit: 'ev/s', ours: sustained },
      { what: 'at 70 %: p50', unit: 'ms', ours: latency(0.5) },
      { what: 'at 70 %: p95', unit: 'ms', ours: latency(0.95) },
      { what: 'at 70 %: p99', unit: 'ms', ours: latency(0.99), goal: atMost(25, latency(0.99), 'ms') },
      { what: 'at 70 %: slowest', unit: 'ms', ours: latency(1) },
      { what: 'write-ahead log, largest', unit: 'MiB', ours: walPeak, goal: atMost(64, walPeak, 'MiB') },
      {
        what: 'at 3 ×: goodput, beside sustained',
        unit: 'ev/s',
        ours: spread(over.inTime),
        peer: sustained,
        peerName: 'sustained',
        ratio: spread(goodput),
        goal: atLeast(0.9, spread(goodput)),
      },
      {
        what: 'at 3 ×: refusal heard after, p99',
        unit: 'ms',
        ours: heard,
        goal: { text: '≤ 5 ms', met: over.refusals.length > 0 && heard.median <= 5 },
      },
    ]
    return {
      measures,
      notes: [
        `${number(largeEvents(settings))} events over ${MANY} sessions; latency counts from the moment a write was due to its receipt`,
        `at 70 %: ${number(steady.offered)} due, ${number(steady.latencies.length)} saved, ${steady.refusals.length} refused`,
        `at 3 ×: ${number(over.offered)} due, ${number(over.called)} called before the time was up, ${number(over.latencies.length)} saved, ${number(over.refusals.length)} refused; calls came up to ${number(over.lag)} ms late`,
        'the load is made in the store’s own process and shares its thread: every turn of the loop calls all that is due, each in its own microtask, as requests on sockets would',
        'goodput is counted second by second; a refusal from the call to its rejection. Percentiles of one run stand alone: rounds = 1',
      ],
    }
  },
}

const one = (value: number): Spread => spread([value])

interface Offered {
  readonly offered: number
  readonly called: number
  /** From the moment it was due to the receipt. */
  readonly latencies: number[]
  /** From the call to the refusal. */
  readonly refusals: number[]
  /** Receipts in each whole second. */
  readonly inTime: number[]
  /** The longest a call came after it was due. */
  readonly lag: number
}

/** Calls at fixed moments, whatever has become of the calls before. */
async function offer(
  store: Store,
  { perSecond, ms }: { perSecond: number; ms: number },
  append: (i: number) => Promise<unknown>,
): Promise<Offered> {
  const offered = Math.floor((perSecond * ms) / 1000)
  const found = { latencies: [] as number[], refusals: [] as number[], inTime: new Array<number>(Math.floor(ms / 1000)).fill(0) }
  const first = (await store.head()).seq
  const failed: unknown[] = []
  let called = 0
  let answered = 0
  let lag = 0
  const start = performance.now()
  const call = (i: number, due: number) => {
    const from = performance.now()
    lag = Math.max(lag, from - due)
    append(first + i).then(
      () => {
        const now = performance.now()
        answered++
        found.latencies.push(now - due)
        const second = Math.floor((now - start) / 1000)
        if (second < found.inTime.length) found.inTime[second] = (found.inTime[second] as number) + 1
      },
      (error: unknown) => {
        answered++
        if (error instanceof InkError && error.code === 'OVERLOADED') found.refusals.push(performance.now() - from)
        else failed.push(error)
      },
    )
  }
  while (called < offered && performance.now() - start < ms) {
    const due = Math.min(offered, Math.floor(((performance.now() - start) * perSecond) / 1000))
    while (called < due && performance.now() - start < ms) {
      call(called, start + (called * 1000) / perSecond)
      called++
      await undefined
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  while (answered < called) await new Promise((resolve) => setTimeout(resolve, 5))
  if (failed.length > 0) throw failed[0]
  return { offered, called, lag, ...found }
}

function watchSize(path: string): { stop(): number } {
  let most = 0
  const look = () => {
    most = Math.max(most, statSync(path, { throwIfNoEntry: false })?.size ?? 0)
  }
  const timer = setInterval(look, 50)
  return {
    stop: () => {
      clearInterval(timer)
      look()
      return most
    },
  }
}
