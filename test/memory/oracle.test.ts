// Recall by words against a second reading of the guide: random items and changes, random questions and filters, on every engine. The oracle
// looks at every item. It shares only the tokeniser with the product.

import { expect, test } from 'vitest'
import type { MemoryItem, RecallOptions, RememberOptions, Store } from '../../src/index.ts'
import { countTerms, indexTokensOf, isSpacelessCharacter, tokensOf } from '../../src/model/text/tokens.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'
import { seeds } from '../support/rounds.ts'

const WORDS = (
  'red car boat sails drove went tea green plan Ada Bob 2024-03-05 1,500 東京都 東京 猫 not café Zürich children running กรุงเทพ 서울에서 ' +
  "привет Ångström abc-123 straße שָׁלוֹם carpet carbon cargo 𐌰𐌱𐌲𐌳 ＦＵＬＬ don't the of and"
).split(' ')
const ASKED = [...WORDS, 'car*', 'sail', 'carp', '京', 'ก', 'xylo', '"', 'AND']
const SCOPES = ['shared', 'user/ada', 'user/bob', 'agent/ü🙂']
const TAGS = ['green', 'red', 'x y', '東京', "qu'ote"]
const KINDS = ['note', 'fact', 'preference'] as const
const SOURCES = [{ session: 's1' }, { session: 's2' }, { file: 'docs/car.md' }, { message: 'm1' }, { event: 'tea', session: 's1' }]
const METADATA = [{ lang: 'en' }, { lang: 'de', n: 1 }, { n: 2, ok: true }, { 'k"=\u0000': 'v\u0000' }]

function randomOf(seed: number) {
  let state = seed
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T
  return {
    next,
    pick,
    words: (most: number, from: readonly string[]) => Array.from({ length: 1 + Math.floor(next() * most) }, () => pick(from)).join(' '),
  }
}

async function change(store: Store, seed: number, steps: number): Promise<void> {
  const { next, pick, words } = randomOf(seed)
  const said: { id: string; text: string; about: string }[] = []
  for (let i = 0; i < steps; i++) {
    const content = {
      ...(next() < 0.4 && { tags: [pick(TAGS), pick(TAGS)] }),
      ...(next() < 0.6 && { source: pick(SOURCES) }),
      ...(next() < 0.5 && { kind: pick(KINDS) }),
      ...(next() < 0.3 && { importance: pick([0, 0.25, 1]) }),
      ...(next() < 0.3 && { confidence: pick([0, 0.5, 1]) }),
      ...(next() < 0.4 && { metadata: pick(METADATA) as NonNullable<RememberOptions['metadata']> }),
      ...(next() < 0.1 && { valid: pick([{ from: 1 }, { until: 1 }, { from: 4e15 }]) }),
    }
    const [step, text, about, old] = [next(), words(8, WORDS), pick(SCOPES), pick(said)]
    if (!old || step < 0.7) {
      const supersedes = old && next() < 0.08 ? { supersedes: old.id } : {}
      const done = store.memory.remember(text, { about, ...content, ...supersedes })
      // The item to supersede may be gone.
      if ((await codeOf(done)) === 'no error') said.push({ id: (await done).id, text, about })
    } else if (step < 0.8) await store.memory.update(old.id, { ...content, ...(next() < 0.5 && { text }) }).catch(expectGone)
    else if (step < 0.87) await store.memory.forget(old.id).catch(expectGone)
    else if (step < 0.92) await store.memory.purge(old.id).catch(expectGone)
    else await store.memory.remember(old.text, { about: old.about })
  }
}

const expectGone = ({ code }: { readonly code: string }): void => expect(['MEMORY_UNKNOWN', 'MEMORY_EXISTS']).toContain(code)

function question(seed: number): readonly [text: string, options: RecallOptions] {
  const { next, pick, words } = randomOf(seed)
  return [
    words(4, ASKED),
    {
      ...(next() < 0.4 && { about: pick([...SCOPES, ['user/ada', 'shared'], 'user/nobody']) }),
      ...(next() < 0.2 && { tags: pick([['green'], ['green', 'red'], ["qu'ote"], ['none'], []]) }),
      ...(next() < 0.2 && { kind: pick([...KINDS, ['note', 'fact'] as const]) }),
      ...(next() < 0.2 && { source: pick([...SOURCES, { session: 'none' }]) }),
      ...(next() < 0.2 && {
        metadata: pick<NonNullable<RecallOptions['metadata']>>([
          { lang: ['en', 'de'] },
          { n: [1, 2] },
          { n: '1' },
          { 'k"=\u0000': 'v\u0000' },
        ]),
      }),
      ...(next() < 0.15 && { superseded: true }),
    },
  ]
}

interface Doc {
  readonly item: MemoryItem
  readonly length: number
  readonly thread: string | undefined
  readonly text: ReadonlyMap<string, number>
  readonly tags: ReadonlyMap<string, number>
  readonly source: ReadonlyMap<string, number>
}

const toDoc = (item: MemoryItem): Doc => {
  const { about, source = {} } = item
  const from = source.session !== undefined ? `session ${source.session}` : source.file !== undefined ? `file ${source.file}` : undefined
  const words = indexTokensOf(item.text)
  return {
    item,
    length: words.length,
    thread: from && `${about} ${from}`,
    text: countTerms(words),
    tags: countTerms(item.tags.flatMap(indexTokensOf)),
    source: countTerms(Object.values(source).flatMap(indexTokensOf)),
  }
}

/** The items in the order in which they were first remembered, and the score of each by the guide. */
function recallAll(docs: readonly Doc[], asked: string, options: RecallOptions): ReadonlyMap<string, number> {
  const rows = new Map<string, number>()
  for (const { text, tags, source } of docs)
    for (const term of new Set([...text.keys(), ...tags.keys(), ...source.keys()])) rows.set(term, (rows.get(term) ?? 0) + 1)
  const average = Math.max(1, docs.reduce((sum, { length }) => sum + length, 0) / Math.max(1, docs.length))
  const weights = new Map<string, number>()
  const weigh = (term: string, share: number) => {
    const df = rows.get(term) as number
    const weight = 2 ** 24 * Math.log(1 + (docs.length - df + 0.5) / (df + 0.5)) * 1.9 * share
    weights.set(term, Math.max(weights.get(term) ?? 0, weight))
  }
  const words = new Set(tokensOf(asked))
  const starred = new Set([...asked.matchAll(/([\p{L}\p{N}]{2,})\*/gu)].flatMap(([, word = '']) => tokensOf(word)))
  const isLong = (word: string) => word.length >= 4 || ([...word].length === 1 && !/[\p{Script=Latin}\p{N}]/u.test(word))
  for (const word of words) if (rows.has(word)) weigh(word, 1)
  for (const word of [
    ...starred,
    ...[...words].filter((one) => !starred.has(one) && (isSpacelessCharacter(one) || (!rows.has(one) && isLong(one)))),
  ])
    for (const [term] of [...rows]
      .filter(([one]) => one.startsWith(word))
      .sort(([a, x], [b, y]) => y - x || Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .slice(0, 8))
      weigh(term, term === word ? 1 : 0.5)
  const own = ({ text, tags, source, length }: Doc, term: string) =>
    (text.get(term) ?? 0) / (0.7 + (0.3 / average) * length) + (tags.get(term) ?? 0) * 0.5 + (source.get(term) ?? 0) * 0.3
  const total = (score: (term: string) => number) =>
    [...weights].reduce((sum, [term, weight]) => sum + Math.trunc((weight * score(term)) / (score(term) + 0.9)), 0)
  const allowed = docs.filter(({ item }) => passes(item, options))
  const pool = allowed
    .filter((doc) => [...weights.keys()].some((term) => own(doc, term) > 0))
    .map((doc) => [doc, total((term) => own(doc, term))] as const)
    .sort(([a, x], [b, y]) => y - x || docs.indexOf(a) - docs.indexOf(b))
    .slice(0, 200)
    .map(([doc]) => doc)
  const beside = (doc: Doc, reach: readonly number[]) => {
    const thread = doc.thread === undefined ? [] : docs.filter((other) => other.thread === doc.thread)
    return reach.map((by) => [thread[thread.indexOf(doc) + by], Math.abs(by) === 1 ? 1 : 0.5] as const).filter(([other]) => other)
  }
  const near = [-2, -1, 1, 2]
  const found = new Set([...pool, ...pool.flatMap((doc) => beside(doc, near).map(([other]) => other as Doc))])
  const most = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  const scores = new Map<string, number>()
  for (const doc of docs.filter((one) => found.has(one) && allowed.includes(one))) {
    const others = beside(doc, near) as readonly (readonly [Doc, number])[]
    const length = others.reduce((sum, [other, share]) => sum + share * other.length, 0)
    const sum = total((term) => {
      const around = others.reduce((all, [other, share]) => all + share * (other.text.get(term) ?? 0), 0)
      return own(doc, term) + (0.5 * around) / (0.25 + (0.75 * length) / (3 * average))
    })
    const { confidence, importance } = doc.item
    const words = [...weights.keys()].some((term) => doc.tags.has(term)) ? Math.trunc(sum * 1.2) : sum
    const score = Math.min(1, words / most) * (1 - 0.3 * (1 - confidence)) * (1 + 0.1 * (importance - 0.5))
    if (score > 0) scores.set(doc.item.id, score)
  }
  return scores
}

function passes({ about, tags, kind, source, metadata, valid }: MemoryItem, asked: RecallOptions): boolean {
  const among = (value: unknown, wanted: unknown) => (Array.isArray(wanted) ? wanted.includes(value) : value === wanted)
  const has = (of: object | undefined, name: string, wanted: unknown) => among((of as Record<string, unknown> | undefined)?.[name], wanted)
  const isTrue = valid?.supersededBy === undefined && (valid?.from ?? 0) <= Date.now() && (valid?.until ?? Infinity) > Date.now()
  return (
    (asked.about === undefined || among(about, asked.about)) &&
    (asked.tags ?? []).every((tag) => tags.includes(tag)) &&
    (asked.kind === undefined || among(kind, asked.kind)) &&
    Object.entries(asked.source ?? {}).every(([name, wanted]) => has(source, name, wanted)) &&
    Object.entries(asked.metadata ?? {}).every(([name, wanted]) => has(metadata, name, wanted)) &&
    (asked.superseded === true || isTrue)
  )
}

async function everyDoc(store: Store): Promise<readonly Doc[]> {
  const { items, cursor } = await store.memory.list({ last: 1000 })
  expect(cursor).toBeUndefined()
  return [...items].reverse().map(toDoc)
}

test('every engine finds what the guide says, in its order, and with the same scores', async () => {
  for (const seed of seeds(1, 20)) {
    const answers: unknown[] = []
    for (const { name, open } of engines) {
      const store = await open()
      await store.tenant('other').memory.rememberAll(Array.from({ length: 9 }, (_, i) => ({ text: `red car boat ${i} 東京都` })))
      await change(store, seed, 150)
      const docs = await everyDoc(store)
      const places = new Map(docs.map(({ item }, i) => [item.id as string, i]))
      const answer = async () => {
        const all: (readonly (readonly [number, number])[])[] = []
        for (let q = 0; q < 60; q++) {
          const [text, options] = question(1000 * seed + q)
          const hits = await store.memory.recall(text, { ...options, limit: 64, weights: { age: 0 } })
          const wanted = recallAll(docs, text, options)
          const folded = new Set<string>(hits.flatMap(({ why }) => why.duplicates ?? []))
          const expected = [...wanted]
            .filter(([id]) => !folded.has(id))
            .sort(([a, x], [b, y]) => y - x || (places.get(a) as number) - (places.get(b) as number))
            .slice(0, 64)
          expect(
            hits.map(({ item }) => item.text),
            `${name} ${seed}.${q}: ${text} ${JSON.stringify(options)}`,
          ).toEqual(expected.map(([id]) => docs[places.get(id) as number]?.item.text))
          for (const [i, { score }] of hits.entries()) expect(score).toBeCloseTo(expected[i]?.[1] as number, 12)
          all.push(hits.map(({ item, score }) => [places.get(item.id) as number, score]))
        }
        return all
      }
      answers.push(await answer())
      await store.rebuild()
      expect(await answer()).toEqual(answers.at(-1))
      await expectSound(store)
    }
    expect((answers[0] as readonly (readonly unknown[])[]).reduce((sum, hits) => sum + hits.length, 0)).toBeGreaterThan(100)
    for (const other of answers.slice(1)) expect(other).toEqual(answers[0])
  }
})
