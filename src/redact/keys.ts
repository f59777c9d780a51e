// Decides from its name alone whether a key is secret: `clientSecret` is, `prompt_tokens` is not.
import { INNOCENT_AFTER, INNOCENT_BEFORE, INNOCENT_BEFORE_TOKEN, type KeyKind, SECRET_ENDINGS, SECRET_PHRASES } from './words.ts'

export type KeyJudge = (key: string) => KeyKind

/** Keys repeat from event to event, so verdicts are cached. The bound keeps a map of user input from growing. */
const REMEMBERED = 4096
/** Only the end of a very long key is read: it contains the head noun, and splitting stays cheap. */
const LONGEST = 128

const HEAD_ONLY: ReadonlySet<KeyKind> = new Set<KeyKind>(['weak', 'likely', 'digits', 'unpath'])

interface Phrase {
  readonly words: readonly string[]
  readonly kind: KeyKind
}

/** Written as `keyWords` writes them. */
const ENDINGS = SECRET_ENDINGS.map((end) => keyWords(end).join(''))

export function keyJudge(extra: readonly string[] = [], allow: readonly string[] = []): KeyJudge {
  const phrases = new Map<string, Phrase[]>()
  const add = (text: string, kind: KeyKind) => {
    const words = text.split(' ')
    const last = words.at(-1) ?? ''
    const list = phrases.get(last) ?? []
    // Longest first: `session token` is decided before `token`.
    phrases.set(
      last,
      [...list, { words, kind }].sort((a, b) => b.words.length - a.words.length),
    )
  }
  for (const [kind, list] of Object.entries(SECRET_PHRASES)) for (const text of list) add(text, kind as KeyKind)
  const asked = extra.map((text) => keyWords(text).join(' ')).filter((text) => text !== '')
  const allowed = new Set(allow.map((text) => keyWords(text).join(' ')))
  const known = new Map<string, KeyKind>()

  const judge = (key: string): KeyKind => {
    const words = keyWords(key)
    const normal = words.join(' ')
    if (allowed.has(normal)) return 'none'
    // The user's own keys match as fragments, and no innocent word overrules them.
    const compact = normal.replaceAll(' ', '')
    if (asked.some((text) => ` ${normal} `.includes(` ${text} `) || (text.length >= 4 && compact.includes(text.replaceAll(' ', ''))))) {
      return 'all'
    }
    // Read from the right: in an English compound the head noun comes last.
    for (let at = words.length - 1; at >= 0; at--) {
      const word = words[at] as string
      const found = phrases.get(word)?.find((phrase) => endsAt(words, at, phrase.words))
      const kind = found?.kind ?? (ENDINGS.some((end) => word.endsWith(end)) ? (word.endsWith('token') ? 'text' : 'all') : 'none')
      // Weak evidence counts only as the head of the name.
      if (kind === 'none' || (at < words.length - 1 && HEAD_ONLY.has(kind))) continue
      return innocent(words, at, found?.words.length ?? 1) ? 'none' : kind
    }
    return 'none'
  }

  return (key) => {
    const before = known.get(key)
    if (before !== undefined) return before
    const kind = judge(key)
    // A long key may itself be a secret, so it is not cached.
    if (key.length <= 64) {
      if (known.size >= REMEMBERED) known.clear()
      known.set(key, kind)
    }
    return kind
  }
}

/** `X-Api-Key`, `apiKey`, `API_KEY` and `APIKey2` are all `api key`. */
export function keyWords(key: string): string[] {
  const tail = key.length > LONGEST ? key.slice(-LONGEST) : key
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII itself
  const plain = /^[\x00-\x7f]*$/.test(tail) ? tail : tail.normalize('NFKD').replace(/\p{M}+/gu, '')
  return plain
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .map((word) => word.replace(/(?<=\p{L}{2})\d{1,4}$/u, ''))
    .filter((word) => word !== '' && !/^\d+$/.test(word))
}

function endsAt(words: readonly string[], at: number, phrase: readonly string[]): boolean {
  const from = at - phrase.length + 1
  return from >= 0 && phrase.every((word, n) => words[from + n] === word)
}

function innocent(words: readonly string[], at: number, length: number): boolean {
  for (let n = at + 1; n < words.length; n++) if (INNOCENT_AFTER.has(words[n] as string)) return true
  const from = at - length + 1
  const aboutText = words[at] === 'token' || words[at] === 'tokens'
  for (let n = 0; n < from; n++) {
    const word = words[n] as string
    if (INNOCENT_BEFORE.has(word) || (aboutText && INNOCENT_BEFORE_TOKEN.has(word))) return true
  }
  return false
}
