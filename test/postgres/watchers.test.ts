// Many watchers, and who looks for himself: a node that hears notifications polls no heads, and one that cannot listen still tells others.

import { expect, test } from 'vitest'
import { backendOn, postgresBackend } from '../../src/backends/postgres/backend.ts'
import { openOver } from '../../src/backends/postgres/open.ts'
import { pooled } from '../../src/backends/postgres/pool.ts'
import { maker } from '../../src/conformance/material.ts'
import { tenantId } from '../../src/model/ids.ts'
import type { Backend } from '../../src/ports/backend.ts'
import { later, tempDatabase } from '../support/engines.ts'
import { startProxy } from './proxy.ts'
import { until } from './until.ts'

const ACME = tenantId('acme')

/** A node that counts how often it polls heads. */
async function countingNode(url: string, listenUrl: string, lookEveryMs: number) {
  const polls = { count: 0 }
  const real = pooled({ url, listenUrl })
  const connections = {
    ...real,
    acquire: async () => {
      const connection = await real.acquire()
      return {
        ...connection,
        run: (...given: Parameters<typeof connection.run>) => {
          if (given[0].some(({ text }) => text.includes('heads_v1'))) polls.count++
          return connection.run(...given)
        },
      }
    },
  }
  const backend = backendOn(await openOver({ url }, connections), { url, lookEveryMs })
  later(() => backend.close())
  return { backend, polls }
}

const isHeard = async ({ upkeep }: Backend): Promise<boolean> => !(await upkeep.health()).why.join().includes('once a second')

test('a node polls heads only while no notification arrives', async () => {
  const url = await tempDatabase()
  const proxy = await startProxy(url)
  const { backend, polls } = await countingNode(url, proxy.url, 5)
  const other = await postgresBackend({ url })
  later(() => other.close())
  const make = maker(1)
  let woken = 0
  later(backend.wakeups.watch(ACME, () => woken++))
  const told = async (): Promise<void> => {
    const before = woken
    await other.commit([make.commit(ACME)])
    await until('it was told', () => woken > before)
  }
  // Many times its pace pass while it is told. At first it still looks, because it does not hear yet.
  await until('it is told twenty times without a look of its own', async () => {
    const before = polls.count
    for (let n = 0; n < 20; n++) await told()
    return polls.count === before
  })
  const heard = polls.count
  // The control: without notifications it polls, and misses nothing.
  proxy.shut(true)
  await until('it knows that it is deaf', async () => !(await isHeard(backend)))
  await until('it polls', () => polls.count > heard + 5)
  await told()
})

test('a node that cannot listen tells others all the same', async () => {
  const url = await tempDatabase()
  const proxy = await startProxy(url)
  proxy.shut(true)
  const [mute, reader] = [await postgresBackend({ url, listenUrl: proxy.url }), await postgresBackend({ url, lookEveryMs: 600_000 })]
  later(() => mute.close())
  later(() => reader.close())
  const make = maker(2)
  let woken = 0
  later(reader.wakeups.watch(ACME, () => woken++))
  for (let n = 0; n < 5; n++) {
    const before = woken
    await until('the reader was told', async () => {
      await mute.commit([make.commit(ACME)])
      return woken > before
    })
  }
})

test('a commit that nobody told is seen with the next reminder, and the control without one waits', async () => {
  const url = await tempDatabase()
  const signals = { url, lookEveryMs: 10 }
  const [reminded, waiting] = [
    await postgresBackend({ ...signals, remindEveryMs: 50 }),
    await postgresBackend({ ...signals, remindEveryMs: 600_000 }),
  ]
  // It has no connection that listens, so it tells nobody, as if it had been killed after its commit.
  const { listen: _, ...silent } = pooled({ url })
  const killed = backendOn(await openOver({ url }, silent), { url })
  for (const backend of [reminded, waiting, killed]) later(() => backend.close())
  const make = maker(3)
  const seen = { reminded: 0, waiting: 0 }
  const look = (who: keyof typeof seen, backend: Backend) => () => void backend.journal.head(ACME).then(({ seq }) => (seen[who] = seq))
  later(reminded.wakeups.watch(ACME, look('reminded', reminded)))
  later(waiting.wakeups.watch(ACME, look('waiting', waiting)))
  await until('both listen', async () => {
    await waiting.commit([make.commit(ACME)])
    return seen.reminded > 0 && seen.waiting > 0
  })
  await until('both hear, and have looked for the last time', async () => {
    const { seq } = await killed.journal.head(ACME)
    await reminded.commit([make.commit(ACME)])
    await until('both were told', () => Math.min(seen.reminded, seen.waiting) > seq)
    return (await isHeard(reminded)) && (await isHeard(waiting))
  })
  const before = (await killed.journal.head(ACME)).seq
  await until('all were told', () => seen.waiting === before)
  await killed.commit([make.commit(ACME)])
  await until('it was reminded', () => seen.reminded === before + 1)
  expect(seen.waiting).toBe(before)
})

test('34,000 watchers cost what twice 17,000 do', async () => {
  const url = await tempDatabase()
  const backend = await postgresBackend({ url })
  later(() => backend.close())
  const costOf = (count: number): number => {
    const before = process.cpuUsage()
    const stops = Array.from({ length: count }, (_, n) => backend.wakeups.watch(tenantId(`t${n}`), () => {}, { patient: n % 2 === 0 }))
    for (const stop of stops) stop()
    const { user } = process.cpuUsage(before)
    return user / 1000
  }
  // The first time, code is compiled.
  costOf(1000)
  const [half, whole] = [costOf(17_000), costOf(34_000)]
  // Every watcher used to look at all others: twice as many cost four times as much, and some seconds.
  expect(whole).toBeLessThan(3 * half + 100)
})
