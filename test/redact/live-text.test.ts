// A stream shows its text as it comes, in every kind of text, and holds back only what may be the beginning of a secret.
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { redactor } from '../../src/redact/redactor.ts'
import type { StreamBounds } from '../../src/redact/stream.ts'
import { rounds, share } from '../support/rounds.ts'
import { chance } from './chance.ts'
import { FAMILIES } from './families.ts'
import { FORMS } from './forms.ts'
import { LANGUAGES } from './languages.ts'
import { VENDORS } from './vendors.ts'

const tag = (secret: string) => createHmac('sha256', 'live').update(secret).digest('hex').slice(0, 8)
const BOUND = 'correct horse battery'
const redact = redactor({ values: [BOUND] }, tag)
/** Looks after every piece, as the clock does while a model writes slowly. */
const BOUNDS: StreamBounds = { portion: 1, context: limits.streamContextChars, most: limits.streamHeldMostChars }
/** A word that is cut off, and the quote of a JSON string before it, and nothing else. */
const WORD = /^"?[\w\-.:+/=$%~!|@]*$/
const SHORT = 80

/** The text that was not shown after each piece, and all that was shown at the end. */
function follow(pieces: Iterable<string>): { readonly held: readonly string[]; readonly out: string } {
  const stream = redact.stream(BOUNDS)
  const held: string[] = []
  let raw = ''
  let out = ''
  for (const piece of pieces) {
    stream.write(piece)
    raw += piece
    out += stream.take()
    held.push(raw.slice(out.length))
  }
  return { held, out: out + stream.end() }
}

describe.each(LANGUAGES)('$name', ({ text, around: [before, after] }) => {
  test('is shown up to its last word, after each of its characters', () => {
    const { held, out } = follow(text)
    expect(out).toBe(redact.text(text))
    expect(held.filter((word) => !WORD.test(word))).toEqual([])
  })

  const shaped = [...FAMILIES, ...VENDORS].filter((family) => family.key === undefined && family.dress === undefined)

  test('a secret inside it never shows, character by character', () => {
    const found: string[] = []
    for (const [n, family] of share(shaped, 8).entries()) {
      const secret = family.make(chance(n + 1))
      const written = `${text.slice(0, SHORT)}${before}${secret}${after}${text.slice(0, SHORT)}`
      const whole = redact.text(written)
      if (family.needles?.(secret).some((needle) => whole.includes(needle)) ?? whole.includes(secret)) continue
      if (follow(written).out !== whole) found.push(family.name)
    }
    expect(found).toEqual([])
  })

  test('a secret inside it never shows, at whatever place the text is cut in two', () => {
    const found: string[] = []
    const samples = [
      BOUND,
      shaped[0]?.make(chance(7)) as string,
      'https://ada:hunter22@example.com/x',
      'password=hunter22 ',
      'the token is a1b2c3d4e5f6g7h8i9j0k1 ',
    ]
    for (const sample of samples) {
      const written = `${text.slice(0, SHORT)}${before}${sample}${after}${text.slice(0, SHORT)}`
      for (let at = 0; at <= written.length; at += rounds(3, 1))
        if (follow([written.slice(0, at), written.slice(at)]).out !== redact.text(written)) found.push(`${sample} at ${at}`)
    }
    expect(found).toEqual([])
  })

  test('a secret that only the text around it tells never shows', () => {
    const found: string[] = []
    for (const [n, form] of share(FORMS, 8).entries()) {
      const secret = form.make(chance(n + 1))
      const written = `${text.slice(0, SHORT)}\n${form.dress?.(secret, chance(n)) ?? secret}\n${text.slice(0, SHORT)}`
      if (follow(written).out !== redact.text(written)) found.push(form.name)
    }
    expect(found).toEqual([])
  })
})

// biome-ignore format: one row a rule
test.each([
  ['a value without quotes', 'password=', '9a#(b,c{d', '\n'],
  ['a value without quotes behind a full-width colon', '密码：', 'hunter2a', '，请'],
  ['a value in quotes', 'password: "', 'one two, three', '" '],
  ['a value in quotes of another script', '密码：「', 'hunter2a', '」'],
  ['a value of a JSON key', '{"apiKey":"', 'one two', '",'],
  ['a value of an option', 'tool --password ', 'hunter{2}a,b', ' -v'],
  ['a word behind a spoken name', 'the password is ', 'hunter{2}a,b', ' '],
  ['a bound value', 'we say ', BOUND, ' '],
  ['the password of an address', 'postgres://ada:', '9a(b),c', '@db/x '],
  ['a cookie', 'Cookie: ', 'a=b1; c=d2; e=f3', '\n'],
  ['an element', '<password>', 'one two', '</password>'],
  ['an attribute', '<input value="', 'one two', '" type="password">'],
  ['an account of chpasswd', 'echo "', 'bob:hunter22', '" | chpasswd\n'],
  ['data of a secret whose kind follows', 'apiVersion: v1\ndata:\n  first: ', 'aHVudGVyMg==', '\nkind: Secret\n'],
  ['a member of a key whose type follows', 'x {"d": "', 'aGVsbG8gd29ybGQ', '", "kty": "EC"} '],
])('%s is held back to its end, and the text before it is not', (_, before, secret, after) => {
  const { held, out } = follow(`${before}${secret}${after}`)
  const masked = redact.text(`${before}${secret}${after}`)
  expect(out).toBe(masked)
  expect(out).not.toContain(secret)
  // Until the secret has come as a whole, what was not shown is the part of it that is there, and at most the word before it.
  for (let at = 1; at <= secret.length; at++)
    expect(held[before.length + at - 1]).toMatch(new RegExp(`^[\\w\\-.:+/=$%~!|@"]*${secret.slice(0, at).replace(/[()[\]{}+.]/g, '\\$&')}$`))
})

test('what is held back is shown once it cannot be a secret any more', () => {
  for (const text of [
    'password: required, as ',
    '<a href="x" title="y">',
    'echo "node:fs" and ',
    '{"data":{"name":"Ada Lovelace", ',
    '"[1] a note ',
    'localhost:3000 or ',
  ])
    expect(follow(text).held.at(-1)).toMatch(WORD)
})
