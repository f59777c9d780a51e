// A stemmer for English by the rules of Porter: endings that only change the grammar are removed step by step. Words with characters
// other than a to z stay as they are.

import { baseForm } from './irregular-forms.ts'

const ENGLISH = /^[a-z]{3,}$/
const VOWEL = /[aeiouy]/
const KNOWN_MOST = 20_000
/** Words that only look like a plural. */
const UNCHANGED: readonly string[] = ['news', 'always', 'perhaps', 'physics', 'mathematics', 'series', 'species']
const known = new Map<string, string>()

/** The stem of a folded word. Results are remembered, because texts repeat their words. */
export function stem(word: string): string {
  const before = known.get(word)
  if (before !== undefined) return before
  if (!ENGLISH.test(word) || UNCHANGED.includes(word)) return word
  if (known.size >= KNOWN_MOST) known.clear()
  const base = baseForm(word)
  const found =
    base.length < 3 ? base : [plurals, pastAndGerund, finalY, doubleEndings, fullEndings, lastEndings].reduce((w, step) => step(w), base)
  known.set(word, found)
  return found
}

function plurals(word: string): string {
  if (word.endsWith('sses')) return word.slice(0, -2)
  if (word.endsWith('ies')) return word.length > 4 ? word.slice(0, -2) : word.slice(0, -1)
  if (word.endsWith('ss') || word.endsWith('us') || !word.endsWith('s')) return word
  return VOWEL.test(word.slice(0, -2)) ? word.slice(0, -1) : word
}

function pastAndGerund(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word
  const ending = word.endsWith('ed') ? 2 : word.endsWith('ing') ? 3 : 0
  const rest = word.slice(0, -ending || undefined)
  if (ending === 0 || rest.length < 2 || !VOWEL.test(rest)) return word
  if (/(at|bl|iz)$/.test(rest)) return `${rest}e`
  if (/([^aeiouylsz])\1$/.test(rest)) return rest.slice(0, -1)
  return measure(rest) === 1 && endsShort(rest) ? `${rest}e` : rest
}

// "flies" and "fly", "happiness" and "happy".
const finalY = (word: string): string =>
  word.length > 2 && word.endsWith('y') && isConsonant(word, word.length - 2) ? `${word.slice(0, -1)}i` : word

const DOUBLE: readonly (readonly [string, string])[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['fulli', 'ful'],
  ['ili', 'i'],
]
const FULL: readonly (readonly [string, string])[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
]
const LAST = 'ement ance ence able ible ment sion tion ant ent ism ate iti ous ive ize al er ic ou'.split(' ')

const replaced = (word: string, endings: readonly (readonly [string, string])[]): string => {
  const found = endings.find(([ending]) => word.endsWith(ending))
  if (!found) return word
  const rest = word.slice(0, -found[0].length)
  return measure(rest) > 0 ? rest + found[1] : word
}

const doubleEndings = (word: string): string => replaced(word, DOUBLE)
const fullEndings = (word: string): string => replaced(word, FULL)

function lastEndings(word: string): string {
  const ending = LAST.find((one) => word.endsWith(one))
  let left = word
  if (ending) {
    // The letter before "ion" belongs to the stem.
    const cut = ending === 'sion' || ending === 'tion' ? 3 : ending.length
    const rest = word.slice(0, -cut)
    if (measure(rest) > 1) left = rest
  }
  if (left.endsWith('e')) {
    const rest = left.slice(0, -1)
    if (measure(rest) > 1 || (measure(rest) === 1 && !endsShort(rest))) left = rest
  }
  return left.endsWith('ll') && measure(left) > 1 ? left.slice(0, -1) : left
}

const isConsonant = (word: string, at: number): boolean => {
  const letter = word[at] as string
  return letter === 'y' ? at === 0 || !isConsonant(word, at - 1) : !'aeiou'.includes(letter)
}

/** How many times a run of vowels is followed by a run of consonants. */
function measure(word: string): number {
  let [count, vowel] = [0, false]
  for (let at = 0; at < word.length; at++) {
    const consonant = isConsonant(word, at)
    if (consonant && vowel) count++
    vowel = !consonant
  }
  return count
}

/** Consonant, vowel, consonant at the end: an "e" was dropped, as in "hop" of "hoping". */
function endsShort(word: string): boolean {
  const last = word.length - 1
  return (
    last >= 2 &&
    isConsonant(word, last) &&
    !isConsonant(word, last - 1) &&
    isConsonant(word, last - 2) &&
    !'wxy'.includes(word[last] as string)
  )
}
