// The word index on PostgreSQL reads what it needs, however many texts a tenant has. The server counts what it reads; no time is measured.

import { expect, test } from 'vitest'
import type { Store } from '../../src/index.ts'
import { chatQuestion, chatText } from '../memory/chat-texts.ts'
import { openIn, tempDatabase } from '../support/engines.ts'
import { asSuperuser } from './logins.ts'
import { until } from './until.ts'

const ITEMS = 600
const TABLES = `('terms', 'postings', 'memory')`

interface Counters {
  readonly scanned: number
  readonly sought: number
  readonly written: number
}

async function counters(url: string): Promise<Counters> {
  const tables = `select sum(seq_tup_read)::integer as scanned, sum(n_tup_ins) filter (where relname = 'postings')::integer as written
    from pg_stat_user_tables where relname in ${TABLES}`
  const indexes = `select sum(idx_tup_read)::integer as sought from pg_stat_user_indexes where relname in ${TABLES}`
  return asSuperuser(url, async (superuser) => ({
    ...(await superuser.query(tables)).rows[0],
    ...(await superuser.query(indexes)).rows[0],
  }))
}

/** Connections report when they end, and otherwise ten seconds later. */
async function inStore(url: string, work: (store: Store) => Promise<unknown>): Promise<void> {
  const store = await openIn(url)
  await work(store)
  await store.close()
}

/** What `work` made the server read. Its connections report a moment after they ended. */
async function readBy(
  url: string,
  work: (store: Store) => Promise<unknown>,
  isReported: (now: Counters, before: Counters) => boolean,
): Promise<Counters> {
  const before = await counters(url)
  await inStore(url, work)
  let now = before
  await until('the server has counted it', async () => {
    now = await counters(url)
    return isReported(now, before)
  })
  return { scanned: now.scanned - before.scanned, sought: now.sought - before.sought, written: now.written - before.written }
}

test('an item that is remembered, and a recall with a filter, read no more than their own terms', async () => {
  const url = await tempDatabase()
  const texts = (from: number, count: number) => Array.from({ length: count }, (_, i) => chatText(from + i, 10))
  await inStore(url, (store) => store.memory.rememberAll(texts(0, ITEMS)))
  await until('the server has counted the first items', async () => (await counters(url)).written >= ITEMS * 17)
  const remembered = await readBy(
    url,
    (store) => store.memory.rememberAll(texts(ITEMS, 100)),
    (now, before) => now.written - before.written >= 1700,
  )
  expect(remembered.scanned, 'rows read one after the other').toBeLessThan(1000)
  expect(remembered.sought / 100, 'entries of indexes for each item').toBeLessThan(300)
  const recalled = await readBy(
    url,
    async (store) => {
      for (let i = 0; i < 20; i++) await store.memory.recall(chatQuestion(i), { kind: 'fact' })
    },
    (now, before) => now.sought - before.sought >= 20 * 100,
  )
  expect(recalled.scanned).toBeLessThan(1000)
  expect(recalled.sought / 20, 'entries of indexes for each recall').toBeLessThan(1000)
})

test('words are joined by hash, whatever the statement that writes the text has set', async () => {
  const joins = `select p.proname as name from pg_proc p where 'enable_hashjoin=on' = any (p.proconfig) and pronamespace = 'inkfast'::regnamespace order by 1`
  const { rows } = await asSuperuser(await tempDatabase(), (superuser) => superuser.query(joins))
  expect(rows.map(({ name }) => name)).toEqual(['words_change', 'words_come'])
})
