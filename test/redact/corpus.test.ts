// The corpus: every family of secrets in every context that can hold it, the look-alikes, and the thresholds that the redactor promises.
import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { redactor } from '../../src/redact/redactor.ts'
import { blobs } from './blobs.ts'
import { chance } from './chance.ts'
import { CONTEXTS, place, WORD_CONTEXTS } from './contexts.ts'
import { FAMILIES, type Family } from './families.ts'
import { FORMS } from './forms.ts'
import { HELD_OUT } from './heldout.ts'
import { INNOCENT, libraryLines } from './innocent.ts'
import { VENDORS } from './vendors.ts'

const SAMPLES = 6
const ALL: readonly Family[] = [...FAMILIES, ...VENDORS, ...FORMS]
const NAMED = ALL.filter((family) => family.key !== undefined)
const COMPOSED = ALL.filter((family) => family.dress !== undefined)
const SHAPED = ALL.filter((family) => family.key === undefined && family.dress === undefined)
const redact = redactor({}, (secret) => createHmac('sha256', 'corpus').update(secret).digest('hex').slice(0, 8))

interface Score {
  readonly name: string
  found: number
  kept: number
  total: number
  readonly missed: Set<string>
}

/** All texts of a value, also those inside JSON text, so that a secret cannot hide behind a backslash. */
function texts(value: unknown, out: string[] = []): string[] {
  if (typeof value === 'string') {
    out.push(value)
    if (/^\s*[[{"]/.test(value)) {
      try {
        texts(JSON.parse(value), out)
      } catch {
        // not JSON: the text itself is already listed
      }
    }
  } else if (Array.isArray(value)) for (const item of value) texts(item, out)
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      out.push(key)
      texts(item, out)
    }
  } else out.push(String(value))
  return out
}

function score(family: Family, salt: number): Score {
  const result: Score = { name: family.name, found: 0, kept: 0, total: 0, missed: new Set() }
  const contexts = family.dress === undefined ? [...CONTEXTS, ...WORD_CONTEXTS] : CONTEXTS
  contexts.forEach((context, n) => {
    for (let sample = 0; sample < SAMPLES; sample++) {
      const made = place(family, context, chance(salt * 7919 + n * 101 + sample))
      const masked = redact.value(made.data)
      const all = [JSON.stringify(masked), ...texts(masked)]
      result.total++
      if (made.needles.every((needle) => all.every((text) => !text.includes(needle)))) result.found++
      else result.missed.add(context)
      if (made.keep.every((piece) => all.some((text) => text.includes(piece)))) result.kept++
      else result.missed.add(`${context} (spoiled)`)
      expect(redact.value(masked), 'masking twice changes nothing').toBe(masked)
    }
  })
  return result
}

function report(title: string, families: readonly Family[], salt = 1): { recall: number; always: number; kept: number } {
  const scores = families.map((family, n) => score(family, n + salt))
  const sum = (pick: (s: Score) => number) => scores.reduce((all, s) => all + pick(s), 0)
  const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`.padStart(7)
  const total = sum((s) => s.total)
  const found = sum((s) => s.found)
  const kept = sum((s) => s.kept)
  const always = scores.filter((s) => s.found === s.total).length
  console.log(
    [
      `${title}: ${scores.length} families, ${total} cases`,
      ...scores.map(
        (s) =>
          `${s.name.padEnd(26)} recall ${percent(s.found, s.total)}  surroundings kept ${percent(s.kept, s.total)}  ${[...s.missed].join(', ')}`,
      ),
      `recall ${percent(found, total)}, always found ${percent(always, scores.length)} of families, surroundings kept ${percent(kept, total)}`,
    ].join('\n'),
  )
  return { recall: found / total, always: always / scores.length, kept: kept / total }
}

describe('the redaction corpus', () => {
  test('at least 150 families are named, ten more are held out', () => {
    expect(new Set([...ALL, ...HELD_OUT].map((family) => family.name)).size).toBe(ALL.length + HELD_OUT.length)
    expect(ALL.length).toBeGreaterThanOrEqual(150)
    expect(HELD_OUT.length).toBe(10)
  })

  test('no rule names a held-out family or its prefix', () => {
    const folder = new URL('../../src/redact/', import.meta.url)
    const rules = readdirSync(folder).filter((file) => !file.endsWith('.test.ts'))
    const source = rules.map((file) => readFileSync(new URL(file, folder), 'utf8')).join('\n')
    for (const family of HELD_OUT) {
      expect(source.toLowerCase()).not.toContain(family.name)
      expect(source).not.toContain(family.make(chance(1)).slice(0, 4))
    }
  })

  test('97 of 100 families with a shape are masked in every case', () => {
    const { always, kept } = report('shaped', SHAPED)
    expect(always).toBeGreaterThanOrEqual(0.97)
    expect(kept).toBeGreaterThanOrEqual(0.98)
  })

  test('secrets with a telling name are masked 995 times in 1,000', () => {
    const { recall, kept } = report('named', NAMED)
    expect(recall).toBeGreaterThanOrEqual(0.995)
    expect(kept).toBeGreaterThanOrEqual(0.98)
  })

  test('95 of 100 composed forms are masked in every case', () => {
    const { always, kept } = report('composed', COMPOSED)
    expect(always).toBeGreaterThanOrEqual(0.95)
    expect(kept).toBeGreaterThanOrEqual(0.98)
  })

  test('families the rules were not written from are found nine times in ten', () => {
    const { recall, kept } = report('held out', HELD_OUT, 1001)
    expect(recall).toBeGreaterThanOrEqual(0.9)
    expect(kept).toBeGreaterThanOrEqual(0.98)
  })

  test('at most 2 of 1,000 look-alikes are changed, of at least 5,000', () => {
    const rows: string[] = []
    let total = 0
    let hits = 0
    const count = (name: string, values: readonly unknown[]) => {
      const changed: string[] = []
      for (const value of values) {
        const masked = redact.value(value)
        if (masked !== value) changed.push(JSON.stringify(masked).slice(0, 140))
      }
      total += values.length
      hits += changed.length
      rows.push(`${name.padEnd(26)} changed ${changed.length} of ${values.length}  ${changed.slice(0, 3).join('  ')}`)
    }
    INNOCENT.forEach((innocent, n) => {
      const values = new Map<string, unknown>()
      for (let sample = 0; sample < 40; sample++) {
        for (const value of innocent.make(chance(n * 7919 + sample + 5))) values.set(JSON.stringify(value), value)
      }
      count(innocent.name, [...values.values()])
      const some = [...values.values()].slice(0, 20)
      count(`${innocent.name}, deeper`, [
        ...some.map((value) => ({ output: [value] })),
        ...some.map((value) => JSON.stringify({ result: value })),
      ])
    })
    count('library lines', libraryLines(2000))
    console.log(['look-alikes', ...rows, `false hits ${hits} of ${total} (${((100 * hits) / total).toFixed(3)} %)`].join('\n'))
    expect(total).toBeGreaterThanOrEqual(5000)
    expect(hits / total).toBeLessThanOrEqual(0.002)
  })

  test('no byte of 300 random base64 blobs is changed', () => {
    const changed: string[] = []
    for (const { name, data } of blobs(300)) {
      const masked = redact.value(data)
      if (masked !== data) changed.push(`${name}: ${JSON.stringify(masked).match(/.{0,20}\[redacted:[^\]]+\].{0,20}/)?.[0]}`)
    }
    expect(changed).toEqual([])
  })
})
