// A program that embeds the items of memory is killed again and again. In the end every item has its vector, and each was written once.

import { expect, test } from 'vitest'
import { chance } from '../../src/conformance/chance.ts'
import { expectSound, openIn, tempDatabase, tempFile } from '../support/engines.ts'
import { rounds, SEED } from '../support/rounds.ts'
import { embedder } from './backfill-embedder.ts'
import { lives } from './lives.ts'

const ITEMS = 400

const live = lives(new URL('./backfill-writer.ts', import.meta.url))

async function filled(url: string): Promise<void> {
  const store = await openIn(url)
  await store.memory.rememberAll(Array.from({ length: ITEMS }, (_, i) => ({ text: `note ${i} about tea` })))
  await store.close()
}

/** Items without a vector, and vectors that were written again. */
async function judge(url: string): Promise<{ readonly lost: number; readonly again: number }> {
  const store = await openIn(url, { embedder: embedder() })
  const { embedded, pending } = await store.memory.embeddings()
  let written = 0
  for await (const _ of store.events({ types: ['vector.put'] })) written++
  await expectSound(store)
  await store.close()
  return { lost: pending, again: written - embedded }
}

test.each([
  ['SQLite', async () => tempFile(), rounds(4, 40)],
  ['PostgreSQL', tempDatabase, rounds(3, 20)],
] as const)('a backfill that is killed loses no vector and writes none twice: %s', async (name, place, kills) => {
  const url = await place()
  await filled(url)
  const { int } = chance(SEED)
  let killed = 0
  while (killed < kills && !(await live([url], 1 + int(3)))) killed++
  expect(await live([url])).toBe(true)
  expect(await judge(url)).toEqual({ lost: 0, again: 0 })
  console.log(`backfill on ${name}, seed ${SEED}: ${killed} kills, ${ITEMS} items`)
  expect(killed).toBeGreaterThan(0)
})

test('the judge catches a vector that is missing, and one that is written again', async () => {
  const url = tempFile()
  await filled(url)
  expect(await live([url, 'careless'])).toBe(true)
  expect(await judge(url)).toEqual({ lost: 1, again: 1 })
})
