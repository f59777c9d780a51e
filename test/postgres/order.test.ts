// Places are given out under the lock of the head and let go by the commit, so events appear in their order: whoever pages by seq never
// misses one that commits late.

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { backendOn, postgresBackend } from '../../src/backends/postgres/backend.ts'
import type { Connections } from '../../src/backends/postgres/connections.ts'
import { openOver } from '../../src/backends/postgres/open.ts'
import { pooled } from '../../src/backends/postgres/pool.ts'
import { maker } from '../../src/conformance/material.ts'
import { open, type Store } from '../../src/index.ts'
import { MAIN } from '../../src/model/ids.ts'
import { expectSound, later, openIn, tempDatabase } from '../support/engines.ts'
import { follow, upTo } from './follow.ts'
import { asSuperuser } from './logins.ts'
import { until } from './until.ts'

const NODES = 4
const EVENTS = 60

/** Everything as usual, but between what a commit has written and its end lies whatever `pause` waits for. */
function hesitating(url: string, pause: () => Promise<unknown>): Connections {
  const connections = pooled({ url })
  return {
    ...connections,
    acquire: async () => {
      const connection = await connections.acquire()
      return {
        ...connection,
        run: async (steps, timeoutMs) => {
          if (!steps.some(({ text }) => /commit_v1|move_head_v1/.test(text))) return connection.run(steps, timeoutMs)
          await connection.run([{ text: 'begin' }], timeoutMs)
          const results = await connection.run(steps, timeoutMs)
          // A statement that found the head elsewhere has written nothing.
          if (results.at(-1)?.length) await pause()
          await connection.run([{ text: 'commit' }], timeoutMs)
          return results
        },
      }
    },
  }
}

async function openHesitating(url: string, pause: () => Promise<unknown>): Promise<Store> {
  const store = await open({ backend: backendOn(await openOver({ url }, hesitating(url, pause)), { url }) })
  later(() => store.close())
  return store
}

test('an event that was written first and commits late is not overtaken', async () => {
  const url = await tempDatabase()
  let holding: Promise<void> | undefined
  let held = false
  const slow = await openHesitating(url, async () => {
    held = holding !== undefined
    await holding
  })
  const others = [await openIn(url), await openIn(url), await openIn(url)]
  const tails = [slow, ...others].map(follow)
  const slowly = await slow.session('slow')
  const sessions = await Promise.all(others.map((node, i) => node.session(`node/${i}`)))
  const { seq } = await slow.head()
  await until('the tails are there', () => tails.every((seqs) => seqs.length === seq))

  const gate = Promise.withResolvers<void>()
  holding = gate.promise
  const late = slowly.append('task.done', { late: true })
  await until('it has written and does not commit', () => held)
  let overtaken = 0
  const waiting = sessions.map((session) => session.append('task.done', {}).finally(() => overtaken++))
  await sleep(300)
  expect(overtaken).toBe(0)
  expect(tails.every((seqs) => seqs.length === seq)).toBe(true)
  holding = undefined
  gate.resolve()
  expect((await late).seq).toBe(seq + 1)
  expect((await Promise.all(waiting)).map((receipt) => receipt.seq).sort()).toEqual([seq + 2, seq + 3, seq + 4])
  for (const seqs of tails) {
    await until('the tail has everything', () => seqs.length >= seq + 4)
    expect(seqs).toEqual(upTo(seq + 4))
  }
})

test('four nodes that write one tenant and hesitate leave no gap, and every tail sees every event once, in order', async () => {
  const url = await tempDatabase()
  const nodes: Store[] = []
  for (let i = 0; i < NODES; i++) nodes.push(await openHesitating(url, () => sleep(Math.random() * 8)))
  const tails = nodes.map(follow)
  await Promise.all(
    nodes.map(async (node, i) => {
      const session = await node.session(`node/${i}`)
      for (let n = 0; n < EVENTS; n += 3) {
        await Promise.all([0, 1, 2].map((k) => session.append('task.done', { n: n + k })))
        await sleep(Math.random() * 4)
      }
    }),
  )
  const all = NODES * (EVENTS + 1)
  for (const seqs of tails) {
    await until('the tail has everything', () => seqs.length >= all)
    expect(seqs).toEqual(upTo(all))
  }
  await expectSound(nodes[0] as Store)
})

test('without the lock of the head a reader by seq would miss what commits late', async () => {
  const url = await tempDatabase()
  const backend = await postgresBackend({ url })
  later(() => backend.close())
  await backend.commit([maker().commit(MAIN)])
  const copy = (seq: number) => `
    insert into inkfast.events select (jsonb_populate_record(e, jsonb_build_object('seq', ${seq}))).* from inkfast.events e where e.seq = 1`
  await asSuperuser(url, async (late) => {
    await late.query('alter table inkfast.events disable trigger events_by_commit')
    await late.query('begin')
    await late.query(copy(2))
    await asSuperuser(url, (early) => early.query(copy(3)))
    const first = await backend.journal.page(MAIN, { from: 0, limit: 10 })
    await late.query('commit')
    const next = await backend.journal.page(MAIN, { from: first.through, limit: 10 })
    expect([...first.events, ...next.events].map(({ seq }) => seq)).toEqual([1, 3])
    expect((await backend.journal.page(MAIN, { from: 0, limit: 10 })).events.map(({ seq }) => seq)).toEqual([1, 2, 3])
  })
})
