// A second corpus, written from the documentation of vendors and not from the rules: families in thirteen places, composed forms, and text
// that holds no secret.
import { describe, expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { redactor } from '../../src/redact/redactor.ts'
import { rounds, SEED, share } from '../support/rounds.ts'
import { BASE62, type Chance, chance, DIGITS, LOWER } from './chance.ts'
import { NAMED_PLACES, PLACES, RECORDS } from './wide-contexts.ts'
import { make, WIDE_NAMED, WIDE_SHAPED } from './wide-families.ts'
import { WIDE_FORMS } from './wide-forms.ts'
import { HARMLESS, realLines } from './wide-harmless.ts'

const redact = redactor({}, () => '00000000')
const SAMPLES = rounds(2, 12)

/** Counts how often secrets survive, and lists where. */
class Tally {
  total = 0
  readonly missed = new Map<string, number>()

  add(name: string, data: unknown, secret: string): void {
    this.total++
    const masked = JSON.stringify(redact.value(data))
    const forms = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]
    if (forms.some((form) => masked.includes(form))) this.missed.set(name, (this.missed.get(name) ?? 0) + 1)
  }

  get found(): number {
    return 1 - this.#misses / this.total
  }

  get #misses(): number {
    return [...this.missed.values()].reduce((sum, count) => sum + count, 0)
  }

  report(title: string): string {
    const rows = [...this.missed].map(([name, count]) => `  ${name}: ${count}`)
    return [`${title}: ${(100 * this.found).toFixed(2)} % of ${this.total} masked`, ...rows].join('\n')
  }
}

/** Passwords as people and generators write them. */
function password(c: Chance, n: number): string {
  const word = c.pick(['Kaffee', 'tiger', 'Quartz', 'blau', 'Lisboa', 'montagne'])
  if (n % 3 === 0) return word + c.chars(DIGITS, 3) + c.pick(['!', '#', '+', '_x', ''])
  if (n % 3 === 1) return c.chars(BASE62, 15) + c.int(10)
  return `${c.chars(LOWER, 2)}${c.int(10)}${c.pick(['$', '!', '*'])}${c.chars(BASE62, 3)}${c.pick(['@', '^', '~'])}${c.chars(BASE62, 3)}${c.int(10)}`
}

const PROSE = 'The build went on for a while, and nobody minded that the tests were slow.\n'

/** Looks after every piece, as the clock does while a model writes slowly. */
function streamed(text: string, c: Chance): string {
  const stream = redact.stream({ portion: 1, context: limits.streamContextChars, most: limits.streamHeldMostChars })
  let out = ''
  for (let at = 0; at < text.length; ) {
    const size = 1 + c.int(c.pick([3, 12, 40]))
    stream.write(text.slice(at, at + size))
    out += stream.take()
    at += size
  }
  return out + stream.end()
}

/** The form with a user and a password in it. */
function filled(name: string, form: string, c: Chance, sample: number): { readonly text: string; readonly secret: string } {
  const secret = /^(?:make hook|putty)/.test(name) ? c.chars(BASE62, 32) : password(c, sample)
  const user = c.pick(['bob', 'svc_app', 'root'])
  return { text: form.replace(/(?<![-\w])U\b/g, () => user).replace('X', () => secret), secret }
}

describe('the wide corpus', () => {
  test('has 289 families or more in 13 places', () => {
    expect(new Set([...WIDE_SHAPED, ...WIDE_NAMED].map(({ name }) => name)).size).toBeGreaterThanOrEqual(289)
    expect(Object.keys(PLACES)).toHaveLength(13)
  })

  test('97 of 100 secrets with a shape are masked, wherever they stand', () => {
    const tally = new Tally()
    for (const [n, family] of WIDE_SHAPED.entries())
      for (const [m, place] of Object.keys(PLACES).entries())
        for (let sample = 0; sample < SAMPLES; sample++) {
          const { text, secret } = make(family, chance(SEED * 1_000_003 + n * 7919 + m * 101 + sample))
          tally.add(`${family.name}, ${place}`, PLACES[place]?.(text), secret)
        }
    console.log(tally.report('shaped'))
    expect(tally.found).toBeGreaterThanOrEqual(0.97)
  })

  test('97 of 100 secrets with a name are masked, wherever they stand', () => {
    const tally = new Tally()
    for (const [n, family] of WIDE_NAMED.entries())
      for (const [m, place] of Object.keys(NAMED_PLACES).entries())
        for (let sample = 0; sample < SAMPLES; sample++) {
          const { text, secret } = make(family, chance(SEED * 1_000_003 + n * 7919 + m * 101 + sample))
          tally.add(`${family.name}, ${place}`, NAMED_PLACES[place]?.(family.key as string, text), secret)
        }
    console.log(tally.report('named'))
    expect(tally.found).toBeGreaterThanOrEqual(0.97)
  })

  test('95 of 100 secrets that only the text around them tells are masked', () => {
    const tally = new Tally()
    for (const [n, [name, form]] of WIDE_FORMS.entries())
      for (const [m, record] of RECORDS.entries())
        for (let sample = 0; sample < 3 * SAMPLES; sample++) {
          const { text, secret } = filled(name, form, chance(SEED * 1_000_003 + n * 7919 + m * 101 + sample), sample)
          tally.add(name, record(text), secret)
        }
    console.log(tally.report('composed'))
    expect(tally.found).toBeGreaterThanOrEqual(0.95)
  })

  test('a stream shows what the whole text shows, wherever it is cut', () => {
    const found: string[] = []
    const check = (name: string, text: string, seed: number) => {
      const written = PROSE + text + PROSE
      const whole = redact.text(written)
      const out = streamed(written, chance(seed))
      if (out !== whole) found.push(`${name}: ${out.slice(0, 400)}`)
    }
    for (const [n, [name, form]] of WIDE_FORMS.entries())
      for (let sample = 0; sample < rounds(3, 60); sample++) {
        const seed = SEED * 1_000_003 + n * 7919 + sample
        check(name, `${filled(name, form, chance(seed), sample).text}\n`, seed)
      }
    for (const [n, family] of share([...WIDE_SHAPED, ...WIDE_NAMED], 8).entries())
      for (const [m, place] of Object.keys(NAMED_PLACES).entries()) {
        const seed = SEED * 1_000_003 + n * 7919 + m * 101
        const { text } = make(family, chance(seed))
        const data = family.key === undefined ? PLACES[place]?.(text) : NAMED_PLACES[place]?.(family.key, text)
        if (typeof data === 'string') check(`${family.name}, ${place}`, `${data}\n`, seed)
      }
    expect(found).toEqual([])
  })

  test('at most one of 1,000 harmless lines is changed', () => {
    const lines = new Set(realLines(rounds(4, 1)))
    for (const [n, write] of Object.values(HARMLESS).entries())
      for (let sample = 0; sample < rounds(100, 1000); sample++) lines.add(write(chance(SEED * 1_000_003 + n * 7919 + sample)))
    const changed = [...lines].filter((line) => redact.text(line) !== line)
    console.log(
      `harmless: ${changed.length} of ${lines.size} changed\n  ${changed
        .slice(0, 30)
        .map((line) => redact.text(line).slice(0, 200))
        .join('\n  ')}`,
    )
    expect(lines.size).toBeGreaterThanOrEqual(5000)
    expect(changed.length / lines.size).toBeLessThanOrEqual(0.001)
  })
})
