// Several processes offer, claim, fail and give back items in many tenants, each with a node that raises the times of queues, and are killed. At
// every moment the stored time of a queue is no later than its earliest item, and in the end a node finds all that is due.

import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { chance } from '../../src/conformance/chance.ts'
import { expectSound, later, openIn, tempDatabase, tempFile } from '../support/engines.ts'
import { query } from '../support/postgres-database.ts'
import { rounds, SEED } from '../support/rounds.ts'
import { lives } from './lives.ts'

const TENANTS = 40
const PROCESSES = 2
const KILLS = rounds(2, 15)
const STEPS = 120

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

interface Engine {
  readonly name: string
  readonly place: () => Promise<string>
  readonly look: (url: string) => Promise<Seen>
  /** Raises what one look found, whatever was offered since. */
  readonly raiseBlindly: (url: string) => Promise<void>
}

const onFile = <T>(path: string, work: (db: DatabaseSync) => T): T => {
  const db = new DatabaseSync(path, { timeout: 20_000 })
  try {
    return work(db)
  } finally {
    db.close()
  }
}

const numbered = ({ late, early }: Readonly<Record<string, unknown>>): Seen => ({ late: Number(late), early: Number(early) })
const idle = (schema: string) =>
  `select d.tenant from ${schema}due d where d.queue = 'q' and not exists (
     select from_ from (select 1 as from_, tenant, queue, at from ${schema}work) w where w.tenant = d.tenant and w.queue = d.queue and w.at is not null)`

const engines: readonly Engine[] = [
  {
    name: 'SQLite',
    place: async () => tempFile(),
    look: async (path) => onFile(path, (db) => numbered(db.prepare(watched('')).get() ?? {})),
    raiseBlindly: async (path) => {
      const found = onFile(path, (db) => db.prepare(idle('')).all())
      await wait(20)
      onFile(path, (db) => {
        for (const { tenant } of found) db.prepare(`delete from due where queue = 'q' and tenant = ?`).run(String(tenant))
      })
    },
  },
  {
    name: 'PostgreSQL',
    place: tempDatabase,
    look: async (url) => numbered((await query(url, watched('inkfast.')))[0] as Readonly<Record<string, unknown>>),
    raiseBlindly: async (url) => {
      const found = (await query(url, idle('inkfast.'))) as readonly { readonly tenant: string }[]
      await wait(20)
      for (const { tenant } of found) await query(url, `delete from inkfast.due where queue = 'q' and tenant = '${tenant}'`)
    },
  },
]

async function opened(url: string): Promise<void> {
  await (await openIn(url)).close()
}

/** Watches while processes live and are killed. Returns the most that was wrong at a time. */
async function watchWhile(engine: Engine, url: string, alive: Promise<unknown>): Promise<Seen> {
  let isOver = false
  const over = alive.finally(() => {
    isOver = true
  })
  let [late, early] = [0, 0]
  while (!isOver) {
    const seen = await engine.look(url)
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
    const seen = await watchWhile(engine, url, all)
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
    expect(await engine.look(url)).toEqual({ late: 0, early: 0 })
  })

  test('the control: a raise that trusts what it saw hides items', async () => {
    const url = await engine.place()
    await opened(url)
    let isOver = false
    const blind = (async () => {
      while (!isOver) await engine.raiseBlindly(url)
    })()
    const all = killed(url, SEED + 7).finally(() => {
      isOver = true
    })
    const { late } = await watchWhile(engine, url, all)
    await blind
    expect(late).toBeGreaterThan(0)
  })
})
