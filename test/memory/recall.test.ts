// Recall on every engine: what is found, in which order, and why.

import { describe, expect, test } from 'vitest'
import type { Store } from '../../src/index.ts'
import { codeOf, engines, expectSound } from '../support/engines.ts'

const found = async (store: Store, text: string, options?: Parameters<Store['memory']['recall']>[1]): Promise<readonly string[]> =>
  (await store.memory.recall(text, options)).map(({ item }) => item.text)

describe.each(engines)('recall on $name', ({ open, openInTime }) => {
  test('items are found by other forms of their words, and each hit explains itself', async () => {
    const store = await open()
    await store.memory.remember('Ada prefers metric units', { about: 'user/ada', tags: ['preference'] })
    await store.memory.remember('Bob went to Zürich with his children', { about: 'user/bob' })
    await store.memory.remember('The café closes at 18:30', { about: 'shared', importance: 1 })
    const hits = await store.memory.recall('which unit do you prefer?', { about: 'user/ada', limit: 5 })
    expect(hits).toHaveLength(1)
    expect(hits.legs).toEqual(['words'])
    expect(hits.degraded).toBeUndefined()
    expect(hits[0]).toMatchObject({
      item: { text: 'Ada prefers metric units', about: 'user/ada' },
      why: { legs: [{ leg: 'words', rank: 1, weight: 1, terms: ['prefer', 'unit'] }], age: { factor: 1 }, confidence: { factor: 1 } },
    })
    expect(hits[0]?.score).toBeGreaterThan(0)
    expect(await found(store, 'Does a child go to Zurich?')).toEqual(['Bob went to Zürich with his children'])
    expect(await found(store, 'CAFE')).toEqual(['The café closes at 18:30'])
    // An unknown word does not empty the result, and may be the beginning of a known one.
    expect(await found(store, 'xylophone metr')).toEqual(['Ada prefers metric units'])
    expect(await found(store, 'chil*')).toEqual(['Bob went to Zürich with his children'])
    expect(await found(store, 'xylophone')).toEqual([])
    await expectSound(store)
  })

  test('scripts without spaces are found by a part of a run', async () => {
    const store = await open()
    await store.memory.rememberAll([
      { text: '私は東京都に住んでいます' },
      { text: '猫が好きです' },
      { text: '我养了一只狗' },
      { text: '狗粮在这里' },
      { text: '나는 서울에서 일한다' },
      { text: 'ฉันอยู่ที่กรุงเทพ' },
    ])
    expect(await found(store, '東京')).toEqual(['私は東京都に住んでいます'])
    expect(await found(store, '猫')).toEqual(['猫が好きです'])
    // One character, wherever it stands.
    expect([...(await found(store, '狗'))].sort()).toEqual(['我养了一只狗', '狗粮在这里'])
    expect(await found(store, '一')).toEqual(['我养了一只狗'])
    expect(await found(store, '서울')).toEqual(['나는 서울에서 일한다'])
    expect(await found(store, 'กรุงเทพ')).toEqual(['ฉันอยู่ที่กรุงเทพ'])
  })

  test('filters are pushed down: the best hits of a filter are found however many others there are', async () => {
    const store = await open()
    const crowd = Array.from({ length: 205 }, (_, i) => ({ text: `coffee coffee note ${i}`, about: 'channel/a' }))
    await store.memory.rememberAll(crowd)
    const file = { file: 'a.md' }
    await store.memory.remember('a long remark that mentions coffee once, after many other words about nothing at all', {
      about: 'user/ada',
      tags: ['x'],
      kind: 'fact',
      source: file,
      metadata: { lang: 'en', n: 3 },
    })
    const filters = [
      { about: 'user/ada' },
      { tags: ['x'] },
      { kind: 'fact' },
      { source: file },
      { metadata: { lang: ['de', 'en'], n: 3 } },
    ] as const
    for (const filter of filters) expect(await found(store, 'coffee', filter), JSON.stringify(filter)).toHaveLength(1)
    expect(await found(store, 'coffee', { about: ['user/ada', 'user/bob'] })).toHaveLength(1)
    expect(await found(store, 'coffee', { metadata: { n: 4 } })).toEqual([])
    expect(await found(store, 'coffee', { until: 1 })).toEqual([])
    expect(await found(store, 'coffee', { since: 1, limit: 3 })).toHaveLength(3)
  })

  test('words of the neighbours count: two before and two after of the same source', async () => {
    const store = await open()
    const say = (text: string, session = 's') => store.memory.remember(text, { source: { session } })
    await say('Shall we talk about the garden?')
    await say('The tomatoes are red')
    await say('They taste sweet')
    await say('Good')
    await say('So so')
    await say('Unrelated remark')
    await say('They taste sour over there', 'elsewhere')
    const hits = await found(store, 'How do the tomatoes taste?')
    expect(hits.slice(0, 2).sort()).toEqual(['The tomatoes are red', 'They taste sweet'])
    expect(hits).toContain('Good')
    expect(hits.indexOf('They taste sour over there')).toBeGreaterThan(1)
    expect(hits).not.toContain('Unrelated remark')
    // Said again from elsewhere, it has other neighbours.
    await store.memory.remember('Good', { source: { message: 'm' } })
    expect(await found(store, 'How do the tomatoes taste?')).not.toContain('Good')
  })

  test('expired, superseded, forgotten and untrue items are not found, unless asked for', async () => {
    const { store, now, pass } = await openInTime()
    const t = await now()
    const old = await store.memory.remember('The office is in Rome')
    await store.memory.remember('The office is in Oslo', { supersedes: old.id })
    await store.memory.remember('The office code is 1234', { ttl: '1h' })
    await store.memory.remember('The office was in Bern', { valid: { until: t + 60_000 } })
    await store.memory.remember('The office will be in Kyiv', { valid: { from: t + 3 * 3_600_000 } })
    const { id } = await store.memory.remember('The office has a cat')
    await store.memory.forget(id)
    expect(new Set(await found(store, 'office'))).toEqual(
      new Set(['The office is in Oslo', 'The office code is 1234', 'The office was in Bern']),
    )
    await pass(2 * 3_600_000)
    expect(await found(store, 'office')).toEqual(['The office is in Oslo'])
    await pass(2 * 3_600_000)
    expect(new Set(await found(store, 'office'))).toEqual(new Set(['The office is in Oslo', 'The office will be in Kyiv']))
    expect(await found(store, 'office', { superseded: true })).toContain('The office is in Rome')
    // At another time: as it was true then. Nobody said since when Rome is true; it ended when Oslo was said.
    const at = async (time: number, more = {}) => new Set(await found(store, 'office', { at: time, ...more }))
    const said = (await store.memory.get(old.id))?.valid?.supersededAt as number
    expect(said).toBeGreaterThanOrEqual(t)
    expect(await at(said - 1)).toEqual(new Set(['The office is in Rome', 'The office code is 1234', 'The office was in Bern']))
    expect(await at(said)).toEqual(new Set(['The office is in Oslo', 'The office code is 1234', 'The office was in Bern']))
    expect(await at(t + 2 * 3_600_000)).toEqual(new Set(['The office is in Oslo']))
    // A fact that says since when it is true ends the other then, also in the past.
    const first = await store.memory.remember('The office dog is Rex')
    const dog = await store.memory.remember('The office dog is Fido', { supersedes: first.id, valid: { from: t - 60_000 } })
    expect(await at(t - 60_001)).toContain('The office dog is Rex')
    expect(await at(t - 60_000)).not.toContain('The office dog is Rex')
    expect(await at(t - 60_000)).toContain('The office dog is Fido')
    for (const { id } of [first, dog]) await store.memory.purge(id)
    expect(await at(t + 4 * 3_600_000, { superseded: false })).toEqual(new Set(['The office is in Oslo', 'The office will be in Kyiv']))
    expect(await at(t, { superseded: true })).toContain('The office will be in Kyiv')
    await expectSound(store)
  })

  test('near-duplicates are folded, and numbers and negations keep items apart', async () => {
    const store = await open()
    const a = await store.memory.remember('Ada likes green tea with honey in the morning')
    const b = await store.memory.remember('Ada likes green tea with honey in the mornings!')
    await store.memory.remember('Invoice 4711 over 300 euros was paid by Ada')
    await store.memory.remember('Invoice 4712 over 300 euros was paid by Ada')
    await store.memory.remember('Ada does not like green tea with honey in the morning')
    const hits = await store.memory.recall('green tea')
    expect(hits).toHaveLength(2)
    const twin = hits.find(({ why }) => why.duplicates)
    expect([twin?.item.id, ...(twin?.why.duplicates ?? [])].sort()).toEqual([a.id, b.id].sort())
    expect(await found(store, 'invoice')).toHaveLength(2)
  })

  test('importance and confidence change the order, and weights can be given', async () => {
    const store = await open()
    await store.memory.remember('the plan is to sail', { confidence: 0.1 })
    await store.memory.remember('the plan is to walk', { importance: 1 })
    await store.memory.remember('the plan is to ride')
    expect(await found(store, 'plan')).toEqual(['the plan is to walk', 'the plan is to ride', 'the plan is to sail'])
    expect((await found(store, 'plan', { weights: { confidence: 0, importance: 0, age: 0 } }))[0]).toBe('the plan is to sail')
    expect(await codeOf(store.memory.recall('plan', { weights: { words: -1 } }))).toBe('OPTION_INVALID')
  })

  test('a question gets eight hits by default, and at most sixty-four', async () => {
    const store = await open()
    const items = Array.from({ length: 70 }, (_, n) => ({ text: `coffee of the month number ${n * 7919}`, about: 'user/ada' }))
    await store.memory.rememberAll(items)
    expect(await store.memory.recall('coffee')).toHaveLength(8)
    expect(await store.memory.recall('coffee', { limit: 64 })).toHaveLength(64)
    expect(await codeOf(store.memory.recall('coffee', { limit: 65 }))).toBe('OPTION_INVALID')
  })

  test('any text is a question: quotes, operators and control characters are no syntax', async () => {
    const store = await open()
    await store.memory.remember('plain words')
    for (const text of ['"', "' OR 1=1 --", 'NEAR(a b) AND NOT *', '\u0000 plain', '{}[]()^:~*', '%_\\', '🙂', '*'])
      await store.memory.recall(text)
    expect(await found(store, '"plain" AND (words*')).toEqual(['plain words'])
    expect(await found(store, `plain ${'and "other" words* '.repeat(8000)}`)).toEqual(['plain words'])
    expect(await found(store, '\ud800 plain')).toEqual(['plain words'])
    // A long word is cut, and never inside a character.
    const gothic = `x${'𐌰'.repeat(30)}`
    await store.memory.remember(gothic)
    expect(await found(store, gothic)).toEqual([gothic])
    expect(await codeOf(store.memory.recall(''))).toBe('MEMORY_TEXT_INVALID')
    expect(await codeOf(store.memory.recall('x', { limit: 0 }))).toBe('OPTION_INVALID')
    expect(await codeOf(store.memory.recall('x', { about: 'nobody' }))).toBe('OPTION_INVALID')
    const many = Array.from({ length: 40_000 }, (_, i) => i)
    expect(await codeOf(store.memory.recall('x', { metadata: { n: many } }))).toBe('OPTION_INVALID')
    expect(await codeOf(store.memory.recall('x', { about: many.map((n) => `user/${n}`) }))).toBe('OPTION_INVALID')
    expect(await found(store, 'plain', { metadata: { n: many.slice(0, 900) } })).toEqual([])
  })

  test('documents of another tenant change neither hits nor scores', async () => {
    const store = await open()
    const texts = ['the red car', 'the blue car', 'a red boat']
    for (const text of texts) await store.memory.remember(text)
    const before = (await store.memory.recall('red car')).map(({ item, score }) => [item.text, score])
    const other = store.tenant('other')
    await other.memory.rememberAll(Array.from({ length: 12 }, (_, i) => ({ text: `red car number ${i}` })))
    expect((await store.memory.recall('red car')).map(({ item, score }) => [item.text, score])).toEqual(before)
    expect(await other.memory.recall('boat')).toEqual([])
    await expectSound(store)
  })

  test('the work for a long text grows with its words, not with their square', async () => {
    const store = await open()
    const words = (n: number, mark: string) => Array.from({ length: n }, (_, i) => mark + i.toString(36)).join(' ')
    const live = async (n: number, mark: string) => {
      const since = performance.now()
      const { id } = await store.memory.remember(words(n, mark))
      await store.memory.update(id, { text: words(n, `${mark}new`) })
      await store.memory.forget(id)
      return performance.now() - since
    }
    let short = 0
    for (let i = 0; i < 16; i++) short += await live(100, `s${i}x`)
    expect(await live(1600, 'y')).toBeLessThan(6 * short)
    await store.memory.remember(words(2300, 'w'))
    expect(await found(store, 'w17 wxy')).toHaveLength(1)
    await expectSound(store)
  })

  test('changes and purges reach the index, and a rebuilt index gives the same hits', async () => {
    const store = await open()
    const { id } = await store.memory.remember('the zebulon device')
    await store.memory.update(id, { text: 'the quixotic device' })
    expect(await found(store, 'zebulon')).toEqual([])
    expect(await found(store, 'quixotic')).toHaveLength(1)
    await store.memory.purge(id)
    expect(await found(store, 'quixotic device')).toEqual([])
    await store.memory.remember('another device', { tags: ['machine'] })
    const before = (await store.memory.recall('machine device')).map(({ item, score }) => [item.id, score])
    expect(before).toHaveLength(1)
    await store.rebuild()
    expect((await store.memory.recall('machine device')).map(({ item, score }) => [item.id, score])).toEqual(before)
    await expectSound(store)
  })
})

test('every engine gives the same items, order and scores', async () => {
  const answers = []
  for (const { open } of engines) {
    const store = await open()
    const words = ['red', 'car', 'boat', 'sails', 'drove', 'tea', 'green', 'plan', 'Ada', 'Bob', '2024-03-05', '東京都', 'not']
    const item = (i: number) => ({
      text: Array.from({ length: 3 + (i % 7) }, (_, k) => words[(i * 7 + k * k * 3 + (i >> 2)) % words.length]).join(' ') + ` ${i}`,
      about: `user/${i % 3}`,
      tags: i % 4 === 0 ? ['green'] : [],
      ...(i % 2 === 0 && { source: { session: `s${i % 5}` } }),
    })
    await store.memory.rememberAll(Array.from({ length: 60 }, (_, i) => item(i)))
    const ask = async (text: string, options = {}) =>
      (await store.memory.recall(text, { limit: 20, weights: { age: 0 }, ...options })).map(({ item, score }) => [item.text, score])
    answers.push([
      await ask('green tea in a red car'),
      await ask('who drives?', { about: 'user/1' }),
      await ask('東京 2024'),
      await ask('boa sail*'),
    ])
  }
  expect(answers[0]?.every((hits) => hits.length > 3)).toBe(true)
  for (const other of answers.slice(1)) expect(other).toEqual(answers[0])
})
