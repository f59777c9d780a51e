// The server is killed while commits are under way: one of its processes, or all of it. What was acknowledged is there, nothing is there
// twice, and a store that was open goes on by itself once the server is back.

import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { InkError, open, type Store } from '../../src/index.ts'
import { expectSound, later } from '../support/engines.ts'
import { createDatabase } from '../support/postgres-database.ts'
import { type Server, startServer } from '../support/postgres-server.ts'
import { rounds } from '../support/rounds.ts'
import { judge, Ledger } from './ledger.ts'
import { until } from './until.ts'

const WRITERS = 8
const PROCESS_KILLS = rounds(2, 24)
const SERVER_KILLS = rounds(1, 12)

let server: Server
beforeAll(async () => {
  // After a crash a server flushes every file that it has, which takes its time where other tests write.
  server = await startServer({ settings: { max_wal_size: '256MB' }, timeoutMs: 120_000 })
})
afterAll(() => server.stop())

async function openFresh(): Promise<{ readonly store: Store; readonly url: string }> {
  const { url } = await createDatabase(server.url)
  const store = await open(url)
  later(() => store.close())
  return { store, url }
}

/** Writes until it is told to stop: half of it with a key, which is sent again when the outcome is open, half without, which is not. */
function startWriting(store: Store, ledger: Ledger): () => Promise<void> {
  let stopped = false
  const write = async (session: Awaited<ReturnType<Store['session']>>): Promise<void> => {
    const n = ledger.begin()
    const key = n % 2 === 0 ? { key: `n-${n}` } : {}
    for (;;) {
      try {
        ledger.acked.set(n, await session.append('task.done', { n }, key))
        return
      } catch (error) {
        if (!(error instanceof InkError) || !['unknown', 'unavailable'].includes(error.kind)) throw error
        if (error.kind === 'unknown') ledger.open++
        await sleep(10)
        // Refused for certain may be written again; open may not, unless a key says that it is the same.
        if (stopped || (error.kind === 'unknown' && key.key === undefined)) return
      }
    }
  }
  const writers = Array.from({ length: WRITERS }, async (_, i) => {
    const session = await store.session(`writer/${i}`)
    while (!stopped) await write(session)
  })
  return async () => {
    stopped = true
    await Promise.all(writers)
  }
}

/** Resolves once somebody's commit is at the server, with the process that has it. */
async function processAtWork(url: string): Promise<number> {
  const watcher = new Client(url)
  await watcher.connect()
  // It goes down with the others when its server does.
  watcher.on('error', () => {})
  let pid: number | undefined
  await until('a commit is under way', async () => {
    const { rows } = await watcher.query<{ pid: number }>(
      `select pid from pg_stat_activity where application_name = 'inkfast' and state = 'active' and query like '%commit_v%' limit 1`,
    )
    pid = rows[0]?.pid
    return pid !== undefined
  })
  await watcher.end()
  return pid as number
}

async function moreAcked(ledger: Ledger): Promise<void> {
  const before = ledger.acked.size
  await until('commits are acknowledged again', () => ledger.acked.size > before + 20)
}

/** Kills until so many have met a commit that was under way. On a busy machine the commit may have got its answer between the look and the kill. */
async function killInCommits(store: Store, ledger: Ledger, times: number, kill: () => Promise<void>): Promise<void> {
  for (let met = 0; met < times; ) {
    await moreAcked(ledger)
    const { resent } = store.stats()
    await kill()
    await moreAcked(ledger)
    if (store.stats().resent > resent) met++
  }
}

async function expectKept(store: Store, ledger: Ledger): Promise<void> {
  const judgement = await judge(store, ledger)
  expect(judgement).toMatchObject({ lost: [], twice: [] })
  expect(await store.verify({ receipts: ledger.receipts(store.tenantId) })).toMatchObject({ intact: true })
  await expectSound(store)
}

describe('nothing acknowledged is lost and nothing is written twice', () => {
  test('nothing acknowledged is lost or written twice when processes of the server are killed in the middle of a commit', async () => {
    const { store, url } = await openFresh()
    const ledger = new Ledger()
    const stop = startWriting(store, ledger)
    // The server ends all its other processes then, and starts anew from its log.
    await killInCommits(store, ledger, PROCESS_KILLS, async () => void process.kill(await processAtWork(url), 'SIGKILL'))
    await stop()
    await expectKept(store, ledger)
  })

  test('nothing acknowledged is lost or written twice when the whole server is killed, and the store goes on without being opened again', async () => {
    const { store, url } = await openFresh()
    const ledger = new Ledger()
    const stop = startWriting(store, ledger)
    await killInCommits(store, ledger, SERVER_KILLS, async () => {
      await processAtWork(url)
      await server.kill('SIGKILL')
      await server.restart()
    })
    await stop()
    await expectKept(store, ledger)
  })

  test('a writer that acknowledges before the store did is caught', async () => {
    const { store } = await openFresh()
    const session = await store.session('liar')
    const ledger = new Ledger()
    ledger.acked.set(ledger.begin(), await session.append('task.done', { n: 0 }))
    await server.kill('SIGKILL')
    const saying = Array.from({ length: WRITERS }, () => {
      const n = ledger.begin()
      ledger.acked.set(n, { seq: n + 2, hash: '-' })
      return session.append('task.done', { n }).catch(() => undefined)
    })
    await Promise.all(saying)
    await server.restart()
    await until('the store is back', async () => (await store.head()).seq > 0)
    expect((await judge(store, ledger)).lost).toHaveLength(WRITERS)
  })

  test('events that are there twice are caught', async () => {
    const { store } = await openFresh()
    const session = await store.session('twice')
    const ledger = new Ledger()
    ledger.acked.set(ledger.begin(), await session.append('task.done', { n: 0 }))
    await session.append('task.done', { n: 0 })
    expect(await judge(store, ledger)).toEqual({ lost: [0], twice: [0], landed: 0 })
  })
})
