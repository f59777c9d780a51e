// The tokeniser: which words are one term, and which are not.

import { expect, test } from 'vitest'
import { foldText } from './fold-text.ts'
import { stem } from './stem.ts'
import { countTerms, indexTokensOf, tokensOf } from './tokens.ts'

const same = (...words: readonly string[]): void => {
  expect(new Set(words.map(stem)).size, `${words.join(', ')}: ${words.map(stem).join(', ')}`).toBe(1)
}

test('case, diacritics and width do not make another word', () => {
  expect(foldText('Ångström CAFÉ ｆｕｌｌ Straße Łódź')).toBe('angstrom cafe full strasse lodz')
  expect(foldText('שָׁלוֹם')).toBe('שלום')
  expect(foldText('서울')).toBe('서울')
  expect(foldText('がぎ')).toBe('がぎ')
})

test('forms of one word share a stem', () => {
  same('prefer', 'prefers', 'preferred', 'preferring')
  same('hop', 'hopped', 'hopping', 'hops')
  same('hope', 'hoped', 'hoping', 'hopes')
  same('fly', 'flies')
  same('connection', 'connections', 'connected', 'connecting')
  same('relation', 'relate', 'relational')
  same('happy', 'happiness', 'happily')
  same('go', 'went', 'gone', 'goes')
  same('child', 'children')
  same('caress', 'caresses')
})

test('different words keep different stems, and short or foreign ones stay', () => {
  expect(stem('news')).not.toBe(stem('new'))
  expect(stem('gas')).toBe('gas')
  expect(stem('bus')).toBe('bus')
  expect(stem('привет')).toBe('привет')
  expect(stem('as')).toBe('as')
})

test('stop words are left out, and negations are kept', () => {
  expect(tokensOf('What is the capital of it?')).toEqual(['capit'])
  expect(tokensOf('Hello world')).toEqual(['hello', 'world'])
  expect(tokensOf("She doesn't eat meat")).toEqual(['not', 'eat', 'meat'])
  expect(tokensOf('We can’t go, never again')).toEqual(['not', 'go', 'never'])
  expect(tokensOf("Ada's dog")).toEqual(['ada', 'dog'])
})

test('numbers, dates and times are found as a whole and by their parts', () => {
  expect(tokensOf('1,500 euros')).toEqual(['1500', 'euro'])
  expect(tokensOf('on 2024-03-05')).toEqual(['2024-03-05', '2024', '3', '5'])
  expect(tokensOf('at 09:30')).toEqual(['09:30', '9', '30'])
  expect(tokensOf('ABC-123')).toEqual(['abc', '123'])
})

test('scripts without spaces become pairs and triples of characters', () => {
  expect(tokensOf('東京都')).toEqual(['東京', '東京都', '京都'])
  expect(tokensOf('猫')).toEqual(['猫'])
  expect(indexTokensOf('東京都 red 猫')).toEqual(['東京', '東京都', '京都', '都', 'red', '猫'])
  expect(tokensOf('I like 東京 a lot')).toEqual(['like', '東京', 'lot'])
  expect(tokensOf('กรุง').length).toBeGreaterThan(2)
  expect(tokensOf('서울에서')).toContain('서울')
})

test('no text is refused: quotes, operators and control characters separate words', () => {
  expect(tokensOf('"AND" OR NEAR(x*) ^ : { } \u0000 \ud800 --')).toEqual(['near', 'x'])
  expect(tokensOf('')).toEqual([])
  expect(tokensOf('🙂🙂')).toEqual([])
  expect(tokensOf('x'.repeat(1000))).toEqual(['x'.repeat(40)])
  expect(tokensOf(`x${'𐌰'.repeat(30)}`)).toEqual([`x${'𐌰'.repeat(19)}`])
})

test('terms are counted in the order of their first occurrence', () => {
  expect([...countTerms(['b', 'a', 'b'])]).toEqual([
    ['b', 2],
    ['a', 1],
  ])
})
