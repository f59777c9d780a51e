// Notifications only wake: whoever stops hearing them misses nothing, says so while it lasts, and listens again by itself.

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { open } from '../../src/index.ts'
import { later, openIn, tempDatabase } from '../support/engines.ts'
import { follow, upTo } from './follow.ts'
import { asSuperuser } from './logins.ts'
import { startProxy } from './proxy.ts'
import { until } from './until.ts'

/** Those who listen: their last words are either that, or a wake-up. */
const listening = `from pg_stat_activity where datname = current_database() and application_name = 'inkfast' and (query like 'listen%' or query like '%; notify inkfast%')`

describe('the connection that listens', () => {
  test('the connection that listens may be killed again and again: tails miss nothing and repeat nothing, and it comes back by itself', async () => {
    const url = await tempDatabase()
    const [reader, writer] = [await openIn(url), await openIn(url)]
    const seqs = follow(reader)
    const session = await writer.session('s')
    let killed = 0
    await asSuperuser(url, async (superuser) => {
      for (let n = 0; n < 60; n++) {
        await session.append('task.done', { n })
        if (n % 15 === 5) killed += (await superuser.query(`select pg_terminate_backend(pid) ${listening}`)).rowCount ?? 0
        if (n % 15 === 6)
          await until('it says that it hears nothing', async () => {
            const { status, why } = await reader.health()
            return status === 'degraded' && /once a second only: /.test(why.join())
          })
        if (n % 15 === 14)
          await until('both hear again', async () =>
            (await Promise.all([reader.health(), writer.health()])).every(({ why }) => !why.join().includes('once a second')),
          )
      }
      expect((await superuser.query(`select 1 ${listening}`)).rowCount).toBe(2)
    })
    expect(killed).toBeGreaterThanOrEqual(4)
    await until('the tail has everything', () => seqs.length >= 61)
    expect(seqs).toEqual(upTo(61))
  })

  test('the connection that listens makes the difference between at once and soon', async () => {
    const url = await tempDatabase()
    const lookEveryMs = 600_000
    const nodeThat = async (listenUrl: string) => {
      const store = await open({ backend: await postgresBackend({ url, listenUrl, lookEveryMs }) })
      later(() => store.close())
      return store
    }
    // This one never looks for itself: what it sees it was told.
    const reader = await nodeThat(url)
    const seqs = follow(reader)
    await until('it listens', async () => (await asSuperuser(url, (superuser) => superuser.query(`select 1 ${listening}`))).rowCount === 1)
    const session = await (await openIn(url)).session('s')
    for (let n = 0; n < 20; n++) await session.append('task.done', { n })
    await until('it was told', () => seqs.length === 21)
  })

  test.each([
    { looks: 'one that looks now and then', lookEveryMs: 200, sees: 6 },
    { looks: 'one that never does', lookEveryMs: 600_000, sees: 0 },
  ])('the connection that listens may be out of reach for good: $looks sees $sees of 6 events', async ({ lookEveryMs, sees }) => {
    const url = await tempDatabase()
    const proxy = await startProxy(url)
    proxy.shut(true)
    const store = await open({ backend: await postgresBackend({ url, listenUrl: proxy.url, lookEveryMs }) })
    later(() => store.close())
    const seqs = follow(store)
    await until('it knows that it is deaf', async () => (await store.health()).status === 'degraded')
    // What it writes itself it hears of: from here on it has looked, and waits.
    await store.session('own')
    await until('it has seen its own', () => seqs.length === 1)
    const session = await (await openIn(url)).session('s')
    for (let n = 0; n < 5; n++) await session.append('task.done', { n })
    if (sees > 0) await until('it looked', () => seqs.length === 1 + sees)
    else await sleep(800)
    expect(seqs).toEqual(upTo(1 + sees))
  })
})
