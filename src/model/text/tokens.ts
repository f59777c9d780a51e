// Splits a text into index terms: folded words without stop words, stemmed; whole numbers and dates with their parts; pairs and triples of
// characters for scripts without spaces.

import { foldText } from './fold-text.ts'
import { stem } from './stem.ts'
import { STOP_WORDS } from './stop-words.ts'

const SPACELESS =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}'
const KINDS = `(?<run>[${SPACELESS}ー々]+)|(?<number>\\p{Nd}+(?:[.,:/-]\\p{Nd}+)+)|(?<word>(?:(?![${SPACELESS}])[\\p{L}\\p{N}\\p{M}])+(?:['’](?:(?![${SPACELESS}])\\p{L})+)?)`
const TOKEN = new RegExp(KINDS.replaceAll(/\?<\w+>/g, '?:'), 'gu')
const WHOLE_TOKEN = new RegExp(`^(?:${KINDS})$`, 'u')
// The same for folded texts in ASCII, which are most: without classes of characters the engine is several times as fast.
const ASCII = /^[\0-\x7f]*$/
const ASCII_TOKEN = /\d+(?:[.,:/-]\d+)+|[a-z\d]+(?:'[a-z]+)?/g
const ASCII_WORD = /^[a-z\d]+$/
const APOSTROPHE = /['’]/
/** Longer words are cut: nobody types them, and a term is an index entry. */
const WORD_CHARS = 40

/** The terms of a question or a text in their order, repeated as often as they occur. */
export const tokensOf = (text: string): readonly string[] => tokens(text, grams)

/** The terms that the index keeps of a text. Every character of a script without spaces begins one, so that one character is found anywhere. */
export const indexTokensOf = (text: string): readonly string[] => tokens(text, gramsWithLast)

function tokens(text: string, gramsOf: (run: string) => readonly string[]): readonly string[] {
  const folded = foldText(text)
  const terms: string[] = []
  for (const token of folded.match(ASCII.test(folded) ? ASCII_TOKEN : TOKEN) ?? []) {
    if (ASCII_WORD.test(token)) {
      if (!STOP_WORDS.has(token)) terms.push(cut(stem(token)))
      continue
    }
    const { groups = {} } = WHOLE_TOKEN.exec(token) as RegExpExecArray
    if (groups.run) terms.push(...gramsOf(token))
    else if (groups.number) terms.push(...numberTerms(token))
    else terms.push(...wordTerms(token))
  }
  return terms
}

function wordTerms(token: string): readonly string[] {
  const [word = '', ending] = token.split(APOSTROPHE)
  // "don't" is a form of "do" and a negation.
  if (ending === 't' && word.endsWith('n')) return [...kept(word === 'can' || word === 'won' ? '' : word.slice(0, -1)), 'not']
  return kept(word)
}

const kept = (word: string): readonly string[] => (word === '' || STOP_WORDS.has(word) ? [] : [cut(stem(word))])

/** Never inside a character: half of one is no text that a database takes. */
const cut = (term: string): string => (term.length <= WORD_CHARS ? term : term.slice(0, WORD_CHARS).replace(/[\ud800-\udbff]$/, ''))

/** "1,500" is one number. A date, a time or a version is found as a whole and by its parts. */
function numberTerms(token: string): readonly string[] {
  if (/^\p{Nd}{1,3}(?:,\p{Nd}{3})+$/u.test(token)) return [token.replaceAll(',', '')]
  const parts = token.split(/[.,:/-]/).map((part) => part.replace(/^0+(?=.)/, ''))
  return [token, ...parts].map(cut)
}

/** A lone character, or all pairs and triples. A question of two characters finds them inside a longer run. */
function grams(run: string): readonly string[] {
  const characters = [...run]
  if (characters.length === 1) return characters
  return characters.flatMap((character, i) => {
    const [second, third] = [characters[i + 1], characters[i + 2]]
    return [...(second ? [character + second] : []), ...(second && third ? [character + second + third] : [])]
  })
}

function gramsWithLast(run: string): readonly string[] {
  const characters = [...run]
  return characters.length === 1 ? characters : [...grams(run), characters.at(-1) as string]
}

const CHARACTER = new RegExp(`^[${SPACELESS}]$`, 'u')

/** A question of one such character asks for every term that begins with it. */
export const isSpacelessCharacter = (term: string): boolean => CHARACTER.test(term)

/** How often each term occurs, in the order of first occurrence. */
export function countTerms(terms: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}
