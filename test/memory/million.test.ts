// Recall by words among a million items: a text is found by its one rare word, and both engines give the same hits. Long runs only, because
// remembering a million items takes many minutes. The figures are printed, and judged in `npm run bench`.

import { expect, test } from 'vitest'
import type { Store } from '../../src/index.ts'
import { later, openIn, tempFile } from '../support/engines.ts'
import { createDatabase } from '../support/postgres-database.ts'
import { startServer } from '../support/postgres-server.ts'
import { LONG } from '../support/rounds.ts'
import { chatQuestion, chatText } from './chat-texts.ts'

const ITEMS = 1_000_000
const SCOPES = 10_000
const AT_ONCE = 1000
const QUESTIONS = 50
const RARE = 20

type Options = Parameters<Store['memory']['recall']>[1]
type Hits = readonly (readonly [text: string, score: number])[]

/** A server of its own with its data on the disk: they would take several gigabytes of memory. */
async function openDatabase(): Promise<Store> {
  const server = await startServer({ settings: { shared_buffers: '512MB', max_wal_size: '4GB' } })
  later(() => server.stop())
  const { url } = await createDatabase(server.url)
  return openIn(url, { memory: { every: '1h' } })
}

/** Texts of one scope are one session, so each has neighbours. */
const itemOf = (number: number) => ({ ...chatText(number, SCOPES), source: { session: `s${number % SCOPES}` } })

async function rememberAll(store: Store): Promise<void> {
  for (let at = 0; at < ITEMS; at += AT_ONCE)
    await store.memory.rememberAll(Array.from({ length: Math.min(AT_ONCE, ITEMS - at) }, (_, i) => itemOf(at + i)))
}

/** Age is left out, because the engines did not remember at the same time. */
const ask = async (store: Store, text: string, options: Options): Promise<Hits> =>
  (await store.memory.recall(text, { ...options, limit: 20, weights: { age: 0 } })).map(({ item, score }) => [item.text, score])

interface Asked {
  readonly hits: readonly Hits[]
  readonly p95: number
}

async function askAll(store: Store, optionsOf: (i: number) => Options): Promise<Asked> {
  const hits: Hits[] = []
  const took: number[] = []
  for (let i = 0; i < QUESTIONS; i++) {
    const start = performance.now()
    hits.push(await ask(store, chatQuestion(i), optionsOf(i)))
    took.push(performance.now() - start)
  }
  return { hits, p95: took.toSorted((one, other) => one - other)[Math.ceil(QUESTIONS * 0.95) - 1] as number }
}

const QUESTIONED: Readonly<Record<string, (i: number) => Options>> = {
  'in one scope': (i) => ({ about: `user/u${(i * 7919) % SCOPES}` }),
  'without a filter': () => ({}),
  'of one kind': () => ({ kind: 'fact' }),
}

test.runIf(LONG)(
  'among a million items, SQLite and PostgreSQL find a text by its one rare word, and give the same hits',
  async () => {
    const stores = { SQLite: await openIn(tempFile(), { memory: { every: '1h' } }), PostgreSQL: await openDatabase() }
    const start = performance.now()
    await Promise.all(Object.values(stores).map(rememberAll))
    const rate = Math.round((ITEMS * 1000) / (performance.now() - start))
    console.log(`${ITEMS} items remembered on each of two engines at once, ${rate} a second on each`)

    const answers: Record<string, Record<string, readonly Hits[]>> = {}
    for (const [name, store] of Object.entries(stores)) {
      for (let i = 0; i < RARE; i++) {
        const number = Math.floor(((i + 0.5) * ITEMS) / RARE)
        const { text } = chatText(number, SCOPES)
        const [best, ...neighbours] = await ask(store, `n${number}`, {})
        expect(best?.[0], name).toBe(text)
        expect(neighbours.length, 'two before it and two behind').toBeLessThanOrEqual(4)
      }
      answers[name] = {}
      for (const [what, optionsOf] of Object.entries(QUESTIONED)) {
        const { hits, p95 } = await askAll(store, optionsOf)
        answers[name][what] = hits
        console.log(`${name}, p95 of ${QUESTIONS} questions ${what}: ${p95.toFixed(1)} ms`)
      }
    }
    expect(answers.PostgreSQL).toEqual(answers.SQLite)
    const counts = Object.values(answers.SQLite ?? {}).map((all) => all.reduce((sum, hits) => sum + hits.length, 0))
    for (const count of counts) expect(count, 'the questions have answers').toBeGreaterThan(QUESTIONS)
    // Control: another item makes other statistics, so the comparison above can tell engines apart.
    await stores.SQLite.memory.remember(chatQuestion(0))
    expect((await askAll(stores.SQLite, () => ({}))).hits).not.toEqual(answers.PostgreSQL?.['without a filter'])
  },
  3 * 3_600_000,
)
