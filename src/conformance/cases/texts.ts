// The word index: it follows the rows in the same commit, counts each tenant for itself, and scores as the port says.

import { deepEqual as equal } from 'node:assert/strict'
import { encodeBody } from '../../model/rows.ts'
import type { TextFilter, TextQuery } from '../../ports/texts.ts'
import { type Bench, group } from '../case.ts'
import { MAIN, OTHER, put } from '../material.ts'

const one = group('texts')
const FOLLOWS = 'the word index follows the rows in the same commit'
const SCORES = 'a search scores as the port says, filters before it cuts, and orders by score and age'
const NEAR = 'neighbours are the rows before and after in a thread'

const item = (id: string, text: string, more: object = {}) =>
  put('memory', id, { text, state: 'active', about: 'shared', kind: 'note', ...more })
const asked = (terms: readonly string[], filter: TextFilter = {}, limit = 10): TextQuery => ({
  terms: terms.map((term, i) => ({ term, weight: 1000 * (i + 1) })),
  k1: 0.9,
  lengthBase: 0.7,
  lengthFactor: 0.1,
  tagWeight: 0.5,
  sourceWeight: 0.3,
  filter,
  limit,
})

async function write({ backend, make }: Bench, ...changes: readonly ReturnType<typeof item>[]): Promise<void> {
  for (const change of changes)
    equal((await backend.commit([make.commit(MAIN, { changes: [change] })]))[0]?.ok, true, 'the commit is saved')
}

async function found({ backend }: Bench, query: TextQuery, tenant = MAIN): Promise<readonly (readonly [string, number])[]> {
  return (await backend.texts.search(tenant, 'memory', query)).map(({ row, score }) => [row.id, score] as const)
}

const scoreOf = (f: number, weight: number): number => Math.trunc((weight * f) / (f + 0.9))

export const texts = [
  one(
    FOLLOWS,
    'a row is found by its words once its commit is saved, by its new words after a change, and not after its removal',
    async (bench) => {
      const { backend, make } = bench
      await write(bench, item('a', 'red car'), item('b', 'red boat'))
      equal(
        (await found(bench, asked(['red']))).map(([id]) => id),
        ['a', 'b'],
        'both are found',
      )
      await write(bench, item('a', 'green car'))
      equal(
        (await found(bench, asked(['red']))).map(([id]) => id),
        ['b'],
        'the old words are gone',
      )
      equal(
        (await found(bench, asked(['green']))).map(([id]) => id),
        ['a'],
        'the new words are there',
      )
      const counts = await backend.texts.statistics(MAIN, 'memory', { terms: ['car', 'red', 'green', 'absent'] })
      equal(
        counts,
        {
          rows: 2,
          length: 4,
          terms: [
            { term: 'car', rows: 1 },
            { term: 'red', rows: 1 },
            { term: 'green', rows: 1 },
          ],
        },
        'rows are counted',
      )
      await backend.commit([make.commit(MAIN, { changes: [{ kind: 'remove', table: 'memory', id: 'b' }] })])
      equal(await found(bench, asked(['red', 'boat'])), [], 'a removed row is not found')
      const left = await backend.texts.statistics(MAIN, 'memory', { terms: ['boat', 'car'] })
      equal(left, { rows: 1, length: 2, terms: [{ term: 'car', rows: 1 }] }, 'its words are gone')
      await write(bench, item('a', 'green car', { state: 'forgotten' }))
      equal((await backend.texts.statistics(MAIN, 'memory', { terms: ['car'] })).rows, 0, 'a row without a text is not counted')
    },
  ),

  one(FOLLOWS, 'a refused commit leaves the word index as it was, and another tenant has an index of its own', async (bench) => {
    const { backend, make } = bench
    await write(bench, item('a', 'red car'))
    const guards = [{ kind: 'row', table: 'memory', id: 'a', revision: 99 } as const]
    await backend.commit([make.commit(MAIN, { guards, changes: [item('a', 'blue car')] })])
    equal(await found(bench, asked(['blue'])), [], 'the refused text is not found')
    await backend.commit([make.commit(OTHER, { changes: [item('a', 'red red boat')] })])
    equal((await found(bench, asked(['red', 'boat'])))[0]?.[1], scoreOf(1 / 0.9, 1000), 'the other tenant does not count')
    equal((await backend.texts.statistics(MAIN, 'memory', { terms: ['boat'] })).terms, [], 'nor do its words')
    equal((await found(bench, asked(['boat']), OTHER)).length, 1, 'it finds its own')
  }),

  one(SCORES, 'scores are sums of whole numbers over text, tags and source, and equal scores are ordered by age', async (bench) => {
    await write(
      bench,
      item('z', 'red car'),
      item('y', 'red car'),
      item('x', 'red red car boat', { tags: ['red'], source: { file: 'boat' } }),
    )
    const [f, g] = [2 / (0.7 + 0.1 * 4) + 0.5, 1 / (0.7 + 0.1 * 4) + 0.3]
    equal(
      await found(bench, asked(['red', 'boat'])),
      [
        ['x', scoreOf(f, 1000) + scoreOf(g, 2000)],
        ['z', scoreOf(1 / (0.7 + 0.1 * 2), 1000)],
        ['y', scoreOf(1 / (0.7 + 0.1 * 2), 1000)],
      ],
      'the scores are exact',
    )
    equal(
      (await found(bench, asked(['red'], {}, 2))).map(([id]) => id),
      ['x', 'z'],
      'the limit keeps the best',
    )
    equal(await found(bench, asked([])), [], 'no terms find nothing')
  }),

  one(SCORES, 'filters on scopes, marks and columns are applied before the limit', async (bench) => {
    await write(
      bench,
      item('a', 'red red red', { at: 5, tags: ['t'] }),
      item('b', 'red and a long text that scores less', { about: 'user/ada', at: 10, expires: 20, metadata: { n: 1 } }),
    )
    const ids = async (filter: TextFilter) => (await found(bench, asked(['red'], filter, 1))).map(([id]) => id)
    equal(await ids({}), ['a'], 'the best')
    equal(await ids({ about: ['@user/ada'] }), ['b'], 'by scope')
    equal(await ids({ about: ['@user/bob'] }), [], 'by an unknown scope')
    equal(await ids({ with: [['="n"=1', '="n"=2']] }), ['b'], 'by one of several marks')
    equal(await ids({ with: [['="n"=1'], ['#t']] }), [], 'by all of several marks')
    equal(await ids({ about: ['@user/ada', '@shared', '@shared'], with: [['#t']] }), ['a'], 'by a mark in one of several scopes')
    equal(await ids({ about: ['@user/ada'], with: [['#t']] }), [], 'by a mark in another scope')
    equal(await ids({ with: [['="n"=7']] }), [], 'by an unknown mark')
    equal(await ids({ without: ['#t', '#unknown'] }), ['b'], 'without a mark')
    equal(await ids({ inside: [{ column: 'at', from: 6, below: 11 }] }), ['b'], 'inside a range')
    equal(await ids({ inside: [{ column: 'expires', below: 100 }] }), ['b'], 'null is in no range')
    equal(await ids({ outside: [{ column: 'expires', below: 21 }], about: ['@user/ada'] }), [], 'outside a range')
    equal(await ids({ outside: [{ column: 'expires', below: 20 }], about: ['@user/ada'] }), ['b'], 'at its edge')
    equal(await ids({ equals: [{ column: 'about', value: 'user/ada' }] }), ['b'], 'by a column')
  }),

  one(SCORES, 'terms that begin with a text are the most frequent ones, then in the order of their bytes', async (bench) => {
    await write(bench, item('a', 'carbon carpet 猫犬'), item('b', 'carpet cargo \u{1F600}'), item('c', 'dog'))
    const { terms } = await bench.backend.texts.statistics(MAIN, 'memory', { terms: [], prefixes: ['car', '猫', 'x'], limit: 2 })
    equal(
      terms,
      [
        { term: 'carpet', rows: 2, prefix: 'car' },
        { term: 'carbon', rows: 1, prefix: 'car' },
        { term: '猫犬', rows: 1, prefix: '猫' },
      ],
      'the terms',
    )
  }),

  one(SCORES, 'a term that does not exist is taken for a beginning of others where that is asked', async (bench) => {
    await write(bench, item('a', 'car carpet donkey 猫犬'), item('b', 'carpet'))
    const { terms } = await bench.backend.texts.statistics(MAIN, 'memory', {
      terms: ['car', 'donk', 'x', '猫'],
      prefixes: ['carp'],
      beginnings: ['car', 'donk', 'x', '猫'],
      limit: 2,
    })
    equal(
      terms,
      [
        { term: 'car', rows: 1 },
        { term: 'carpet', rows: 2, prefix: 'carp' },
        { term: 'donkey', rows: 1, prefix: 'donk' },
        { term: '猫犬', rows: 1, prefix: '猫' },
      ],
      'the terms',
    )
  }),

  one(NEAR, 'neighbours are found in the order of a thread, without rows that have no text', async (bench) => {
    const said = (id: string, more: object = {}) => item(id, `word ${id}`, { thread: 't', ...more })
    await write(bench, said('a'), said('b'), said('c', { state: 'forgotten' }), said('d', { thread: 'u' }), said('e'), said('f'), said('g'))
    const all = await found(bench, asked(['word']))
    equal(all.length, 6, 'six rows have a text')
    const page = await bench.backend.rows.list(MAIN, 'memory', { index: 'byBorn', equals: [], limit: 10 })
    const born = (id: string) => page.rows.find((row) => row.id === id)?.born as number
    const around = async (ids: readonly string[], span: number) =>
      (
        await bench.backend.texts.around(
          MAIN,
          'memory',
          ids.map((id) => ({ thread: id === 'd' ? 'u' : 't', born: born(id) })),
          span,
        )
      ).map(({ id }) => id)
    equal(await around(['e'], 1), ['b', 'f'], 'one before and after')
    equal(await around(['f', 'b', 'd'], 1), ['a', 'e', 'g'], 'several places, each row once')
    equal(await around(['e', 'f'], 2), ['a', 'b', 'g'], 'rows at the places are left out')
    equal(await around(['c'], 1), ['b', 'e'], 'a place needs no text')
    equal(
      (await bench.backend.texts.around(MAIN, 'memory', [{ thread: 't', born: born('b') }], 9))[0]?.body,
      encodeBody({ text: 'word a', state: 'active', about: 'shared', kind: 'note', thread: 't' }),
      'the row is whole',
    )
  }),
]
