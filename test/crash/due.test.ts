// Several processes offer, claim, fail and give back items in many tenants, each with a node that raises the times of queues, and are killed. At
// every moment the stored time of a queue is no later than its earliest item, and in the end a node finds all that is due.

import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { chance } from '../../src/conformance/chance.ts'
import { expectSound, later, openIn, tempDatabase, tempFile } from '../support/engines.ts'
import { rounds, SEED } from '../support/rounds.ts'
import { lives } from './lives.ts'

const TENANTS = 40
const PROCESSES = 2
const KILLS = rounds(2, 15)
const STEPS = 80

const live = lives(new URL('./due-writer.ts', import.meta.url))

/** Queues of tenants whose stored time is later than an item, or missing; and how many times are stored too early. */
const watched = (schema: string): string => `
  select count(*) filter (where d.at is null or d.at > w.at) as late, count(*) filter (where d.at < w.at) as early
  from (select tenant, queue, min(at) as at from ${schema}work where queue = 'q' and at is not null group by tenant, queue) w
  left join ${schema}due d on d.tenant = w.tenant and d.queue = w.queue`

interface Seen {
  readonly late: number
  readonly early: number
}

/** A connection beside the store. */
interface Side {
  readonly look: () => Promise<Seen>
  /** Raises what one look found, whatever was offered since. */
  readonly raiseBlindly: () => Promise<void>
}

interface Engine {
  readonly name: string
  readonly place: () => Promise<string>
  readonly beside: (url: string) => Promise<Side>
}

const numbered = ({ late, early }: Readonly<Record<string, unknown>>): Seen => ({ late: Number(late), early: Number(early) })
/** Tenants that are stored too early, each with its earliest item. */
const tooEarly = (schema: string) => `
  select d.tenant, w.at as next from ${schema}due d
  left join (select tenant, min(at) as at from ${schema}work where queue = 'q' and at is not null group by tenant) w on w.tenant = d.tenant
  where d.queue = 'q' and (w.at is null or w.at > d.at)`
const raiseTo = (schema: string, { tenant, next }: Readonly<Record<string, unknown>>): string =>
  next === null
    ? `delete from ${schema}due where queue = 'q' and tenant = '${String(tenant)}'`
    : `update ${schema}due set at = ${String(next)} where queue = 'q' and tenant = '${String(tenant)}'`
const TRUSTED_MS = 20

const engines: readonly Engine[] = [
  {
    name: 'SQLite',
    place: async () => tempFile(),
    beside: async (path) => {
      const db = new DatabaseSync(path, { timeout: 20_000 })
      later(async () => db.close())
      return {
        look: async () => numbered(db.prepare(watched('')).get() ?? {}),
        raiseBlindly: async () => {
          const found = db.prepare(tooEarly('')).all()
          await wait(TRUSTED_MS)
          for (const one of found) db.exec(raiseTo('', one))
        },
      }
    },
  },
  {
    name: 'PostgreSQL',
    place: tempDatabase,
    beside: async (url) => {
      const client = new Client(url)
      await client.connect()
      later(() => client.end())
      const ask = async (sql: string) => (await client.query<Readonly<Record<string, unknown>>>(sql)).rows
      return {
        look: async () => numbered((await ask(watched('inkfast.')))[0] ?? {}),
        raiseBlindly: async () => {
          const found = await ask(tooEarly('inkfast.'))
          await wait(TRUSTED_MS)
          for (const one of found) await ask(raiseTo('inkfast.', one))
        },
      }
    },
  },
]

async function opened(url: string): Promise<void> {
  await (await openIn(url)).close()
}

/** Watches while processes live and are killed. Returns the most that was wrong at a time. */
async function watchWhile({ look }: Side, alive: Promise<unknown>): Promise<Seen> {
  let isOver = false
  const over = alive.finally(() => {
    isOver = true
  })
  let [late, early] = [0, 0]
  while (!isOver) {
    const seen = await look()
    late = Math.max(late, seen.late)
    early = Math.max(early, seen.early)
    await wait(5)
  }
  await over
  return { late, early }
}

async function killed(url: string, seed: number): Promise<void> {
  const { int } = chance(seed)
  for (let kills = 0; kills < KILLS; kills++) await live([url, String(seed + kills), String(TENANTS)], STEPS / 2 + int(STEPS))
}

describe.each(engines)('on $name', (engine) => {
  test('an item that was offered is never hidden from nodes, whatever is killed', async () => {
    const url = await engine.place()
    await opened(url)
    const all = Promise.all(Array.from({ length: PROCESSES }, (_, n) => killed(url, SEED + 1000 * n)))
    const side = await engine.beside(url)
    const seen = await watchWhile(side, all)
    expect(seen.late).toBe(0)
    // Otherwise nothing was there to raise.
    expect(seen.early).toBeGreaterThan(0)
    const store = await openIn(url)
    const worker = store.queue('q').work(async () => {}, { tenants: 'all', concurrency: 32 })
    later(() => worker.close())
    const tenants = (await store.tenants()).filter((tenant) => /^t\d/.test(tenant))
    for (const tenant of tenants) {
      const left = async () => {
        const { ready, claimed } = await store.tenant(tenant).queue('q').stats()
        return ready + claimed
      }
      while ((await left()) > 0) await wait(20)
    }
    await worker.close()
    await expectSound(store)
    for (const tenant of tenants) await store.tenant(tenant).rebuild()
    expect(await side.look()).toEqual({ late: 0, early: 0 })
  })

  test('the control: a raise that trusts what it saw hides items', async () => {
    const url = await engine.place()
    await opened(url)
    const [{ look }, { raiseBlindly }] = [await engine.beside(url), await engine.beside(url)]
    let late = 0
    let lives = 0
    while (late === 0) {
      let isOver = false
      const life = live([url, String(SEED + lives++), String(TENANTS)], STEPS).finally(() => {
        isOver = true
      })
      while (!isOver && late === 0) {
        await raiseBlindly()
        late = Math.max(late, (await look()).late)
      }
      await life
    }
    expect(late).toBeGreaterThan(0)
  })
})
