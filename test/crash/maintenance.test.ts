// A program that maintains memory is killed again and again. In the end every item beyond the capacity is purged once, and every other one is
// there with its vector.

import { expect, test } from 'vitest'
import { chance } from '../../src/conformance/chance.ts'
import { expectSound, openIn, tempDatabase, tempFile } from '../support/engines.ts'
import { rounds, SEED } from '../support/rounds.ts'
import { embedder } from './backfill-embedder.ts'
import { lives } from './lives.ts'

const ITEMS = 120
const KEPT = 20

const live = lives(new URL('./maintenance-writer.ts', import.meta.url))

async function filled(url: string): Promise<void> {
  const store = await openIn(url, { embedder: embedder() })
  await store.memory.rememberAll(Array.from({ length: ITEMS }, (_, i) => ({ text: `note ${i} about tea`, importance: i < KEPT ? 1 : 0.5 })))
  await store.memory.backfill()
  await store.close()
}

async function judge(url: string): Promise<object> {
  const store = await openIn(url, { embedder: embedder() })
  const { items } = await store.memory.list({ last: 1000 })
  const { embedded } = await store.memory.embeddings()
  const texts = new Set<number>()
  const purged: unknown[] = []
  for await (const { type, data, subject } of store.events({ types: ['memory.*'] })) {
    const [, number] = /note (\d+) /.exec(JSON.stringify(data ?? null)) ?? []
    if (number !== undefined) texts.add(Number(number))
    if (type === 'memory.purged') purged.push(subject)
  }
  await expectSound(store)
  await store.close()
  return {
    kept: items.filter(({ importance }) => importance === 1).length,
    items: items.length,
    texts: texts.size,
    embedded,
    purged: new Set(purged).size,
    again: purged.length - new Set(purged).size,
  }
}

const WHOLE = { kept: KEPT, items: KEPT, texts: KEPT, embedded: KEPT, purged: ITEMS - KEPT, again: 0 }

test.each([
  ['SQLite', async () => tempFile(), rounds(3, 20)],
  ['PostgreSQL', tempDatabase, rounds(2, 10)],
] as const)('maintenance that is killed loses no item and purges none twice: %s', async (name, place, kills) => {
  const url = await place()
  await filled(url)
  const { int } = chance(SEED)
  let killed = 0
  while (killed < kills && !(await live([url, String(KEPT)], 1 + int(40)))) killed++
  // Control: so far there is something left to do.
  if (killed === kills) expect(await judge(url)).not.toEqual(WHOLE)
  expect(await live([url, String(KEPT)])).toBe(true)
  expect(await judge(url)).toEqual(WHOLE)
  console.log(`maintenance on ${name}, seed ${SEED}: ${killed} kills, ${ITEMS} items`)
  expect(killed).toBeGreaterThan(0)
})
