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
async function countingNode(url: string, listenUrl = url, remindEveryMs = 600_000) {
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
  const backend = backendOn(await openOver({ url }, connections), { url, lookEveryMs: 5, remindEveryMs })
  later(() => backend.close())
  return { backend, polls }
}

/** At first a node still looks, because it does not hear yet. Then many times its pace pass while it is told. */
const hears = (polls: { readonly count: number }, told: () => Promise<void>): Promise<void> =>
  until('it is told twenty times without a look of its own', async () => {
    const before = polls.count
    for (let n = 0; n < 20; n++) await told()
    return polls.count === before
  })

const isHeard = async ({ upkeep }: Backend): Promise<boolean> => !(await upkeep.health()).why.join().includes('once a second')

test('a node polls heads only while no notification arrives', async () => {
  const url = await tempDatabase()
  const proxy = await startProxy(url)
  const { backend, polls } = await countingNode(url, proxy.url)
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
  await hears(polls, told)
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
  const [reminded, waiting] = [await countingNode(url, url, 50), await countingNode(url)]
  // It has no connection that listens, so it tells nobody, as if it had been killed after its commit.
  const { listen: _, ...silent } = pooled({ url })
  const killed = backendOn(await openOver({ url }, silent), { url })
  later(() => killed.close())
  const other = await postgresBackend({ url })
  later(() => other.close())
  const make = maker(3)
  const woken = { reminded: 0, waiting: 0 }
  later(reminded.backend.wakeups.watch(ACME, () => woken.reminded++))
  later(waiting.backend.wakeups.watch(ACME, () => woken.waiting++))
  const told = async (): Promise<void> => {
    const before = { ...woken }
    await other.commit([make.commit(ACME)])
    await until('both were told', () => woken.waiting > before.waiting && woken.reminded > before.reminded)
  }
  await hears(waiting.polls, told)
  await hears(reminded.polls, told)
  // What it was told last may still be on its way.
  let last = -1
  await until('all were told', () => {
    const isQuiet = last === woken.waiting
    last = woken.waiting
    return isQuiet
  })
  const polled = reminded.polls.count
  await killed.commit([make.commit(ACME)])
  const before = woken.reminded
  await until('it was reminded', () => woken.reminded >= before + 2)
  expect([woken.waiting, reminded.polls.count]).toEqual([last, polled])
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
