// Streamed text is masked like text in one piece, wherever it is cut. The same corpus shows that masking each piece alone is not enough.
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { redactor } from '../../src/redact/redactor.ts'
import type { MaskedStream, StreamBounds } from '../../src/redact/stream.ts'
import { rounds, share } from '../support/rounds.ts'
import { BASE64, chance } from './chance.ts'
import { CONTEXTS, place } from './contexts.ts'
import { FAMILIES } from './families.ts'
import { FORMS } from './forms.ts'
import { HELD_OUT } from './heldout.ts'
import { VENDORS } from './vendors.ts'

const tag = (secret: string) => createHmac('sha256', 'streams').update(secret).digest('hex').slice(0, 8)
const redact = redactor({ values: ['correct horse battery'] }, tag)
const BOUNDS: StreamBounds = {
  portion: limits.streamChars,
  context: limits.streamContextChars,
  most: limits.streamHeldMostChars,
}
/** Looks after every piece, as the clock does while a model writes slowly. */
const SLOW: StreamBounds = { ...BOUNDS, portion: 1 }
/** Small bounds put every cut close to the secret, so that short texts test what long texts do. */
const TIGHT: StreamBounds = { portion: 1, context: 320, most: 4096 }

const STEP = rounds(25, 5)
const PROSE = 'The build went on for a while, and nobody minded that the tests were slow. '

function streamed(pieces: Iterable<string>, bounds = BOUNDS, by = redact): string {
  const stream = by.stream(bounds)
  let out = ''
  for (const piece of pieces) {
    stream.write(piece)
    if (stream.ready) out += stream.take()
  }
  return out + stream.end()
}

function* cutEvery(text: string, size: number, first = size): Generator<string> {
  yield text.slice(0, first)
  for (let at = first; at < text.length; at += size) yield text.slice(at, at + size)
}

interface Sample {
  readonly name: string
  readonly text: string
  /** The secrets that one append masks. */
  readonly secrets: readonly string[]
}

/** Every family in every context, among prose, as a model would write it. */
const CORPUS: readonly Sample[] = [...FAMILIES, ...HELD_OUT, ...VENDORS, ...FORMS].flatMap((family, n) =>
  CONTEXTS.map((context, m) => {
    const { data, needles } = place(family, context, chance(n * 7919 + m * 101))
    const before = PROSE.repeat(1 + ((n + m) % 6))
    const after = PROSE.repeat(6)
    const text =
      typeof data === 'string' ? `${before}\n${data}\n${after}` : JSON.stringify({ before, ...(data as object), after }, undefined, m % 2)
    const masked = redact.text(text)
    return { name: `${family.name}, ${context}`, text, secrets: needles.filter((needle) => !masked.includes(needle)) }
  }),
)

function leaks(sample: Sample, pieces: Iterable<string>, bounds = TIGHT): readonly string[] {
  const out = streamed(pieces, bounds)
  return sample.secrets.filter((secret) => out.includes(secret))
}

describe('streamed text', () => {
  test('no secret of the corpus escapes, at whatever place the text is cut in two', () => {
    const found: string[] = []
    for (const [n, sample] of CORPUS.entries()) {
      // One context of each family. A cut falls between two words, so every fifth place reaches nearly all of them, and samples share them.
      if (n % CONTEXTS.length !== Math.floor(n / CONTEXTS.length) % CONTEXTS.length) continue
      for (let at = n % STEP; at < sample.text.length; at += STEP)
        if (leaks(sample, [sample.text.slice(0, at), sample.text.slice(at)]).length > 0) found.push(`${sample.name} at ${at}`)
    }
    expect(found).toEqual([])
  })

  test.each([17, 64])('no secret of the corpus escapes in pieces of %i characters', (size) => {
    const found = share(CORPUS, 3).filter((sample, n) => leaks(sample, cutEvery(sample.text, size, 1 + (n % size))).length > 0)
    expect(found.map(({ name }) => name)).toEqual([])
  })

  test('no secret escapes from texts of several corpus samples, cut by chance', () => {
    const sample = fc.constantFrom(...CORPUS)
    const samples = fc.array(sample, { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(samples, fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1 }), (several, sizes) => {
        const text = several.map((one) => one.text).join('\n')
        const masked = redact.text(text)
        const secrets = several.flatMap((one) => one.secrets).filter((secret) => !masked.includes(secret))
        const pieces: string[] = []
        for (let at = 0; at < text.length; at += pieces.at(-1)?.length ?? 0)
          pieces.push(text.slice(at, at + (sizes[pieces.length % sizes.length] as number)))
        expect(leaks({ name: '', text, secrets }, pieces, BOUNDS)).toEqual([])
      }),
      { numRuns: rounds(100, 300), seed: 11 },
    )
  })

  test('secrets of the corpus escape without context or without held text', () => {
    const without = (bounds: StreamBounds, take: (stream: MaskedStream) => string) =>
      share(CORPUS, 3).filter(({ text, secrets }) => {
        const stream = redact.stream(bounds)
        let out = ''
        for (const piece of cutEvery(text, 17)) {
          stream.write(piece)
          out += take(stream)
        }
        out += stream.end()
        return secrets.some((secret) => out.includes(secret))
      }).length
    expect(without({ ...TIGHT, context: 0 }, (stream) => stream.take())).toBeGreaterThan(20)
    expect(without(TIGHT, (stream) => stream.end())).toBeGreaterThan(20)
  })

  test('a private key that a model writes word by word becomes one placeholder', () => {
    const lines = Array.from({ length: 26 }, (_, n) => chance(n).chars(BASE64, 64))
    const key = `-----BEGIN RSA PRIVATE ${'KEY'}-----\n${lines.join('\n')}\n-----END RSA PRIVATE ${'KEY'}-----`
    const text = `${PROSE.repeat(20)}Here it is:\n${key}\n${PROSE.repeat(40)}`
    for (const size of [1, 5, 700]) expect(streamed(cutEvery(text, size))).toBe(text.replace(key, `[redacted:private-key:${tag(key)}]`))
  })

  test.each(['# ', ' * ', '// ', '; ', '> '])('a private key with %j before every line is masked as in one text', (mark) => {
    const lines = Array.from({ length: 26 }, (_, n) => mark + chance(n).chars(BASE64, 64))
    const key = `-----BEGIN RSA PRIVATE ${'KEY'}-----\n${lines.join('\n')}\n${mark}-----END RSA PRIVATE ${'KEY'}-----`
    for (const before of [3, 7, 60]) {
      const text = `${PROSE.repeat(before)}\n${mark}${key}\n${PROSE.repeat(40)}`
      for (const size of [17, 90, 700])
        expect(streamed(cutEvery(text, size), SLOW)).toBe(text.replace(key, `[redacted:private-key:${tag(key)}]`))
    }
  })

  test('a PGP key with any characters in its headers is masked as in one text', () => {
    const lines = Array.from({ length: 26 }, (_, n) => chance(n).chars(BASE64, 64))
    const headers = 'Version: GnuPG v2\nComment: Ada <ada@example.org> [home] {x} & ~$!?^'
    const key = `-----BEGIN PGP PRIVATE ${'KEY'} BLOCK-----\n${headers}\n\n${lines.join('\n')}\n=abcd\n-----END PGP PRIVATE ${'KEY'} BLOCK-----`
    const text = `${PROSE.repeat(7)}\n${key}\n${PROSE.repeat(40)}`
    for (const size of [17, 90, 700]) {
      expect(streamed(cutEvery(text, size), SLOW)).toBe(text.replace(key, `[redacted:private-key:${tag(key)}]`))
      expect(streamed(cutEvery(text, size), TIGHT)).not.toContain(lines[9])
    }
  })

  test.each([100, 300, 5000])('a bound value of %i words is masked in every encoding', (count) => {
    const words = Array.from({ length: count }, (_, n) => `word${n}`)
    const value = words.join(' ')
    const own = redactor({ values: [value] }, tag)
    for (const form of [value, encodeURIComponent(value), Buffer.from(value).toString('base64'), JSON.stringify({ x: value })])
      for (const before of [0, 7, 60]) {
        const text = `${PROSE.repeat(before)}${form} ${PROSE.repeat(20)}`
        const out = streamed(cutEvery(text, 90), SLOW, own)
        expect(out.startsWith(PROSE.repeat(before)) && out.endsWith(PROSE.repeat(20))).toBe(true)
        expect(out.length).toBeLessThan(PROSE.length * (before + 20) + 80)
      }
  })

  const data = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`key${n}`, chance(n).chars(BASE64, n === 30 ? 900 : 32)]))
  const jwk = { n: chance(70).chars(BASE64, 683), e: 'AQAB', d: chance(71).chars(BASE64, 683), p: chance(72).chars(BASE64, 342) }
  test.each([
    ['a Kubernetes secret', { kind: 'Secret', metadata: { name: 'tls' }, data }, Object.values(data)],
    [
      'a Kubernetes secret in alphabetical order',
      { apiVersion: 'v1', data, kind: 'Secret', metadata: { name: 'tls' } },
      Object.values(data),
    ],
    ['a JSON Web Key', { kty: 'RSA', ...jwk }, [jwk.d, jwk.p]],
    ['a JSON Web Key with its type last', { ...jwk, kty: 'RSA' }, [jwk.d, jwk.p]],
  ])('%s is masked in JSON among prose', (_, object, secrets) => {
    for (const indent of [undefined, 2])
      for (const before of [0, 4, 60]) {
        const text = `${PROSE.repeat(before)}\n${JSON.stringify(object, undefined, indent)}\n${PROSE.repeat(20)}`
        for (const size of [90, 700]) {
          const out = streamed(cutEvery(text, size), SLOW)
          expect(secrets.filter((secret) => out.includes(secret))).toEqual([])
          expect(out).toBe(redact.text(text))
        }
      }
  })

  test('a text that only begins like a bound value is shown', () => {
    const own = redactor({ values: [`${PROSE.repeat(20)}S3cr3t`] }, tag)
    const text = PROSE.repeat(60)
    expect(streamed(cutEvery(text, 90), SLOW, own)).toBe(text)
  })

  // biome-ignore format: text and secret side by side
  test.each([
    ['a member', '"password": "x7"', 'x7'],
    ['a sentence', 'password is hunter22', 'hunter22'],
    ['a header', 'Bearer abc123def456', 'abc123def456'],
    ['a command', 'tool --password hunter22 -v', 'hunter22'],
    ['a value with spaces', 'password="correct  horse staple\n in three lines"', 'horse'],
    ['a value in three quotes', `secret = """${'many words '.repeat(300)}S3cr3t"""`, 'S3cr3t'],
    ['a long cookie', `Cookie: ${Array.from({ length: 90 }, (_, n) => `c${n}=v${n}aa`).join('; ')}; sid=S3cr3t`, 'S3cr3t'],
  ])('the secret of %s is masked wherever the text before it ends', (_, secret, needle) => {
    for (let before = 0; before < 24; before += rounds(5, 1)) {
      const text = `${'word '.repeat(120)}${'.'.repeat(before)} ${secret}\n${PROSE.repeat(30)}`
      expect(streamed(cutEvery(text, 6, 1), { ...TIGHT, most: 8192 })).not.toContain(needle)
      expect(streamed(cutEvery(text, 24))).not.toContain(needle)
    }
  })

  test('JSON is masked by its structure while it comes', () => {
    const text = JSON.stringify({
      note: PROSE.repeat(30),
      credentials: { user: 'alice', list: ['one two', 'three'], n: 77 },
      env: [
        { name: 'DB_PASSWORD', value: 'short' },
        { name: 'MODE', value: 'fast' },
      ],
      nested: JSON.stringify({ secrets: ['inner'], text: PROSE }),
      schema: { password: { type: 'string', description: 'At least 8' } },
      end: PROSE.repeat(12),
    })
    for (const size of [1, 7, 100, 10_000]) {
      expect(streamed(cutEvery(text, size))).toBe(redact.text(text))
      expect(streamed(cutEvery(text, size), TIGHT)).toBe(redact.text(text))
    }
  })

  test('innocent text comes through unchanged, also without a space in 300 KB', () => {
    const base64 = chance(5).chars(BASE64, 300_000)
    const pairs = '😀'.repeat(20_000)
    for (const text of [
      PROSE.repeat(2000),
      base64,
      pairs,
      JSON.stringify({ file: PROSE.repeat(900), image: base64 }),
      '{"a": [1, 2',
      '{"a": }',
      '',
    ])
      for (const size of [31, 100_000]) expect(streamed(cutEvery(text, size)) === text).toBe(true)
  })

  test('a secret that is too long to be held is masked in parts, and the text after it is shown', () => {
    const long = chance(6).chars(BASE64, 60_000).replaceAll('+', 'x')
    const block = long.replace(/.{64}/g, '$&\n')
    const begin = `-----BEGIN PRIVATE ${'KEY'}-----`
    const end = `-----END PRIVATE ${'KEY'}-----`
    for (const text of [
      `password=${long} after`,
      `password="${block}" after`,
      `${begin}\n${block}\n${end} after`,
      `Cookie: a=${long.replace(/.{2000}/g, '$&; a=')}\nafter`,
      JSON.stringify({ password: block, later: 'after' }),
      JSON.stringify({ credentials: { all: [block, 'x'] }, later: 'after' }),
    ]) {
      const out = streamed(cutEvery(text, 50))
      expect(out).toContain('after')
      expect(out.length).toBeLessThan(400)
      for (const piece of [long.slice(0, 30), long.slice(20_000, 20_030), long.slice(-30)]) expect(out).not.toContain(piece)
    }
  })
})
