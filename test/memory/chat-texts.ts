// Texts with the word frequencies of a chat, repeatable from a seed: for measurements and for tests of large memories.

/** The commonest word stands in about a fifth of the texts. */
const VOCABULARY = 20_000
const FLATTENS = 60
const WORDS = 17

export interface ChatText {
  readonly text: string
  readonly about: string
  readonly kind: 'note' | 'fact' | 'preference' | 'summary' | 'context'
}

const KINDS = ['note', 'fact', 'preference', 'summary', 'context'] as const

/** Words that no stemmer changes: consonant, vowel, consonant, and so on. */
function word(rank: number): string {
  const [consonants, vowels] = ['bdfgklmnprtvz', 'aou']
  let rest = rank + 40
  let made = ''
  do {
    made += consonants[rest % consonants.length]
    rest = Math.floor(rest / consonants.length)
    made += vowels[rest % vowels.length]
    rest = Math.floor(rest / vowels.length)
  } while (rest > 0)
  return `${made}x`
}

const words = Array.from({ length: VOCABULARY }, (_, rank) => word(rank))

/** Each rank is drawn in proportion to 1 / (rank + 60): the sum of all up to it, found by halving. */
const sums = words.reduce<number[]>((all, _, rank) => {
  all.push((all.at(-1) ?? 0) + 1 / (rank + FLATTENS))
  return all
}, [])

function drawn(next: () => number): string {
  const wanted = next() * (sums.at(-1) as number)
  let [low, high] = [0, VOCABULARY - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sums[middle] as number) < wanted) low = middle + 1
    else high = middle
  }
  return words[low] as string
}

/** A text in one of `scopes` scopes. Its number makes it unique. */
export function chatText(number: number, scopes: number): ChatText {
  const next = repeatable(number + 1)
  const said = Array.from({ length: WORDS }, () => drawn(next))
  return { text: `${said.join(' ')} n${number}`, about: `user/u${number % scopes}`, kind: KINDS[number % KINDS.length] ?? 'note' }
}

/** A question of one to six words. */
export function chatQuestion(number: number): string {
  const next = repeatable(number + 1_000_003)
  return Array.from({ length: 1 + Math.floor(next() * 6) }, () => drawn(next)).join(' ')
}

/** Numbers from 0 to 1 (mulberry32). */
function repeatable(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1) | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
