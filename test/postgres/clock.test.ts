// Time that decides something is the database's: whatever a node's clock says, and for all nodes at once when a test moves it.

import { expect, test } from 'vitest'
import { postgresBackend } from '../../src/backends/postgres/backend.ts'
import { maker } from '../../src/conformance/material.ts'
import { open } from '../../src/index.ts'
import { MAIN } from '../../src/model/ids.ts'
import type { Outcome } from '../../src/ports/commit.ts'
import { later, moveTime, openIn, tempDatabase } from '../support/engines.ts'
import { asSuperuser } from './logins.ts'

const HOUR = 3_600_000

async function databaseTime(url: string): Promise<number> {
  const { rows } = await asSuperuser(url, (superuser) =>
    superuser.query<{ now: string }>('select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now'),
  )
  return Number(rows[0]?.now)
}

test('the time of an outcome is between two looks at the clock of the database, on every node, moved or not', async () => {
  const url = await tempDatabase()
  const nodes = [await postgresBackend({ url }), await postgresBackend({ url })]
  for (const node of nodes) later(() => node.close())
  for (const [offset, move] of [
    [0, 0],
    [HOUR, HOUR],
    [-HOUR, -2 * HOUR],
  ] as const) {
    await moveTime(url, move)
    for (const [i, node] of nodes.entries()) {
      const before = await databaseTime(url)
      const [outcome] = await node.commit([maker(i + 1 + Math.abs(offset)).commit(MAIN)])
      expect(outcome?.now).toBeGreaterThanOrEqual(before + offset)
      expect(outcome?.now).toBeLessThanOrEqual((await databaseTime(url)) + offset)
    }
  }
})

test('a commit that the database chokes on tells store time too', async () => {
  const url = await tempDatabase()
  const backend = await postgresBackend({ url })
  later(() => backend.close())
  await moveTime(url, HOUR)
  await asSuperuser(url, (superuser) =>
    superuser.query(`
      create function inkfast_choke() returns trigger language plpgsql as $$ begin raise exception 'choked'; end $$;
      create trigger choke before insert on inkfast.events for each row when (new.type = 'bad.thing') execute function inkfast_choke()`),
  )
  const make = maker()
  const bad = () => make.commit(MAIN, { events: [make.draft(MAIN, { type: 'bad.thing' })] })
  const outcomes: (Outcome | undefined)[] = [...(await backend.commit([bad()])), ...(await backend.commit([make.commit(MAIN), bad()]))]
  expect(outcomes.map((outcome) => outcome?.ok)).toEqual([false, true, false])
  for (const outcome of outcomes) expect(Math.abs((outcome?.now ?? 0) - (await databaseTime(url)) - HOUR)).toBeLessThan(60_000)
})

test("a node's own clock is on its events and decides nothing", async () => {
  const url = await tempDatabase()
  const early = await open({ url, clock: { now: () => 1000 } })
  later(() => early.close())
  const late = await openIn(url, { clock: { now: () => 4_000_000_000_000 } })
  for (const store of [early, late]) await (await store.session('s')).append('task.done', {}, { key: 'same' })
  // Receipts are kept for thirty days of store time: neither node takes them for older than they are.
  for (const store of [early, late]) expect(await store.maintain()).toMatchObject({ receiptsForgotten: 0, stateExpired: 0 })
  await moveTime(url, 31 * 24 * HOUR)
  await (await early.session('s')).append('task.done', {})
  expect(await early.maintain()).toMatchObject({ receiptsForgotten: 1, stateExpired: 0 })
})
